import type { Group } from './row.ts'

export const streams: Group = {
  title: 'Runs and streams',
  rows: [
    {
      id: 'D12',
      severity: 'C',
      promise: 'A stream that breaks off says so, has no [DONE], and costs what was delivered.',
      tests: [
        [
          'test/runs/lying-upstream.test.ts',
          'what came is charged, an error says so, no [DONE] follows',
        ],
        [
          'test/upstream/model-server.test.ts',
          'one that ends after k words is cut, and the k words are there',
        ],
      ],
      guards: [['src/runs/stream.ts', 'stream']],
    },
    {
      id: 'D13',
      severity: 'C',
      promise: 'When a client goes, its upstream stops and it pays for what it was given.',
      tests: [
        ['test/runs/stop.test.ts', 'in a stream: what was delivered is charged'],
        ['test/runs/stop.test.ts', 'in a stream that fell silent: its upstream is stopped as well'],
        ['test/http/sse.test.ts', 'a client that hangs up'],
        ['test/runs/hang-up.test.ts', 'at any moment pays for what was delivered, and no more'],
        ['test/runs/hang-up.test.ts', 'hanging up before the request was sent costs nothing'],
      ],
      guards: [
        ['src/runs/live-run.ts', 'stopWithClient'],
        ['src/runs/ending.ts', 'chargedFor'],
      ],
    },
    {
      id: 'D14',
      severity: 'H',
      promise: 'A client that reads slowly takes a bounded buffer and a bounded time.',
      tests: [
        [
          'test/http/sse.test.ts',
          'is sent no more than the buffer, and counts as gone after the deadline',
        ],
        [
          'test/runs/stuck-reader.test.ts',
          'a reader that takes nothing does not keep a cancelled run from its end',
        ],
      ],
      guards: [['src/web/http/sse.ts', 'sseResponse']],
    },
    {
      id: 'D15',
      severity: 'H',
      promise: 'A silent stream is kept alive, and every run has a last moment.',
      tests: [
        ['test/http/sse.test.ts', 'sends its head at once and a comment in each interval'],
        ['test/upstream/http.test.ts', 'the whole of it, however busy'],
      ],
      guards: [
        ['src/web/http/sse.ts', 'ping'],
        ['src/models/upstream/http.ts', 'watchOver'],
        ['src/models/upstream/wire/exchange.ts', 'Exchange'],
      ],
    },
    {
      id: 'D16',
      severity: 'H',
      promise: 'Upstream output is limited, and odd event streams are read as the same events.',
      tests: [
        ['test/upstream/sse.test.ts', 'any stream gives the same events however it is split'],
        ['test/upstream/sse.test.ts', 'an event of 8 MiB passes, one more is too large'],
        ['test/fuzz/upstreams.test.ts', 'whatever an upstream answers, a run ends'],
        [
          'test/upstream/http.test.ts',
          '50 MB in 50 kB of gzip stop at the limit, read whole or as they come',
        ],
      ],
      guards: [
        ['src/models/upstream/sse.ts', 'SseParser'],
        ['src/kernel/json-size.ts', 'isModestJson'],
        ['src/models/upstream/wire/body-pipe.ts', 'BodyPipe'],
      ],
    },
    {
      id: 'D17',
      severity: 'H',
      promise: 'Model output cannot pass for a frame of ours.',
      tests: [
        ['test/runs/lying-upstream.test.ts', 'text that holds our framing stays text'],
        ['test/upstream/sse.test.ts', 'text inside data cannot forge an event'],
      ],
      guards: [['src/web/http/sse.ts', 'dataFrame']],
    },
    {
      id: 'D18',
      severity: 'C',
      promise: 'Error texts of an upstream are never passed on.',
      tests: [
        ['test/upstream/model-server.test.ts', 'nothing that an upstream says is repeated'],
        [
          'test/runs/lying-upstream.test.ts',
          "a refusal of the upstream is told in our words, and another isn't asked",
        ],
      ],
      guards: [['src/models/upstream/refused.ts', 'reasonOf']],
    },
    {
      id: 'D19',
      severity: 'C',
      promise: 'One Idempotency-Key is one effect, also across a crash.',
      tests: [
        ['test/idempotency/at-once.test.ts', '%i at once, %s, streamed: %p: one run, one charge'],
        [
          'test/binary/idempotency.test.ts',
          'a retry gets the stored result, and each call was charged once, streamed: %p',
        ],
        [
          'test/idempotency/runs.test.ts',
          'another body under the same key is 422, and nothing is run',
        ],
        ['test/idempotency/runs.test.ts', 'of another route, or by another key, is another call'],
        ['test/idempotency/nodes.test.ts', '200 at once over both: one run, one charge'],
      ],
      guards: [
        ['src/storage/idempotency/api/answer-once.ts', 'answerOnce'],
        ['src/ledger/once.ts', 'onceOf'],
      ],
    },
    {
      id: 'D20',
      severity: 'H',
      promise: 'Only a refused payment and a charged answer tell a client not to try again.',
      tests: [
        ['test/http/root.test.ts', '402 tells SDKs not to retry and carries its metadata'],
        [
          'test/runs/openai-errors.test.ts',
          '402 is an APIError, raised at the first try: one call, nothing upstream',
        ],
        [
          'test/runs/openai-errors.test.ts',
          'InternalServerError after its own tries, none of them charged',
        ],
        [
          'test/runs/admission.test.ts',
          'the hold is gone when a 5xx arrives, so that a retry can afford its own',
        ],
        [
          'test/runs/stop.test.ts',
          'a plain run answers 409 that no SDK tries again, and costs its input',
        ],
        [
          'test/idempotency/sdk.test.ts',
          'its own retries of a failure reach the upstream: nothing was charged',
        ],
      ],
      guards: [['src/web/http/to-refusal.ts', 'toRefusal']],
    },
    {
      id: 'D21',
      severity: 'H',
      promise: 'A plan is bought once, and no cap falls below what was spent.',
      tests: [
        ['test/plans/subscribe.test.ts', 'asked for 100 times at once is bought once'],
        [
          'test/keys/change.test.ts',
          'is never below what is spent and held: 409 names the smallest it can be',
        ],
        [
          'test/keys/change.test.ts',
          'that races with holds is kept: what is taken fits, or the change is refused',
        ],
      ],
      guards: [
        ['src/billing/plans/subscribe.ts', 'subscribe'],
        ['src/access/keys/change.ts', 'assertCovered'],
      ],
    },
    {
      id: 'D22',
      severity: 'C',
      promise: 'Beyond what a server takes at once, a run is refused at once.',
      tests: [
        [
          'test/binary/streams.test.ts',
          'above admission a run is refused at once with 503; an ended one makes room',
        ],
        [
          'test/runs/admission.test.ts',
          'is answered at once, costs and holds nothing; the others end well',
        ],
        [
          'test/binary/streams.test.ts',
          'the process started itself again with room for every run that may be admitted',
        ],
      ],
      guards: [
        ['src/runs/live-runs.ts', 'crowded'],
        ['src/app/fetch-limit.ts', 'raiseFetchLimit'],
      ],
    },
    {
      id: 'D23',
      severity: 'H',
      promise: 'One account cannot take all places.',
      tests: [
        [
          'test/binary/drill-share.test.ts',
          '200 stalled streams of one key leave the runs of another account alone',
        ],
        [
          'test/upstream/share.test.ts',
          'of %i places, accounts that come one after the other may take %j',
        ],
      ],
      guards: [
        ['src/kernel/fair-share.ts', 'mayTake'],
        ['src/models/upstream/slots.ts', 'Slots'],
      ],
    },
    {
      id: 'D24',
      severity: 'H',
      promise: 'A request is limited in size, depth and number of parts.',
      tests: [
        ['test/http/body.test.ts', '413 payload_too_large'],
        ['test/http/body.test.ts', 'two million levels are refused, not walked'],
        ['test/http/body.test.ts', '415 unsupported_media_type'],
        ['test/models/bound.test.ts', 'a chat is refused'],
        ['test/models/api.test.ts', '404 model_not_found for unknown, disabled and foreign names'],
      ],
      guards: [
        ['src/web/http/body.ts', 'readJson'],
        ['src/models/chat-content.ts', 'checkChat'],
      ],
    },
    {
      id: 'D32',
      severity: 'C',
      promise: 'Caps, limits, replays, receipts and endings are those of every door.',
      tests: [
        ['test/runs/concurrent.test.ts', 'through 20 children the cap of their parent binds'],
        ['test/doors/promises.test.ts', 'usage adds its runs up by key, model and tag'],
        [
          'test/doors/promises.test.ts',
          'the runs at once of a plan hold, and a client that leaves',
        ],
        ['test/idempotency/at-once.test.ts', '%i at once, %s, streamed: %p: one run, one charge'],
        ['test/runs/lying-doors.test.ts', 'usage is charged between what was delivered'],
      ],
      guards: [
        ['src/runs/begin.ts', 'begin'],
        ['src/runs/native-sorter.ts', 'NativeSorter'],
      ],
    },
    {
      id: 'D33',
      severity: 'H',
      promise:
        'No member of a request is lost in silence; where both sides speak alike, bytes pass.',
      tests: [
        ['test/protocols/nothing-lost.test.ts', 'every member goes on, is named as ignored, or'],
        ['test/doors/bytes.test.ts', 'a stream comes back byte by byte but for the receipt'],
      ],
      guards: [
        ['src/models/protocols/forward.ts', 'forward'],
        ['src/models/protocols/native.ts', 'nativeRequest'],
      ],
    },
  ],
}
