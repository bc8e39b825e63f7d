import { attested } from './attested.ts'
import type { Group } from './row.ts'

export const upstreams: Group = {
  title: 'Upstreams',
  rows: [
    {
      id: 'E1',
      severity: 'C',
      promise: 'No user names an address that we call.',
      tests: [
        ['test/models/bound.test.ts', 'is the known fields, the step’s model and always a limit'],
        ['test/models/api.test.ts', 'images, and more choices or messages than there may be'],
      ],
      guards: [
        ['src/models/bound.ts', 'forwardBody'],
        ['src/models/chat-content.ts', 'checkPart'],
      ],
    },
    {
      id: 'E2',
      severity: 'C',
      promise: 'No redirect of an upstream is followed, and its key goes nowhere else.',
      tests: [
        [
          'test/upstream/http.test.ts',
          'a redirect is a failure and the credentials reach no other server',
        ],
        [
          'test/runs/lying-doors.test.ts',
          'a redirect is not followed: the other server sees nothing',
        ],
      ],
      guards: [
        ['src/models/upstream/http.ts', 'request'],
        ['src/models/upstream/wire/exchange.ts', 'Exchange'],
      ],
    },
    {
      id: 'E16',
      severity: 'H',
      promise:
        'No beta and no tool of a client lets a model read or run beyond what a hold covers.',
      tests: [
        ['test/doors/rules.test.ts', 'a beta that widens the context'],
        ['test/protocols/native-tools.test.ts', 'A namespace of tools goes on only if'],
      ],
      guards: [['src/models/protocols/native.ts', 'nativeOf']],
    },
    {
      id: 'E15',
      severity: 'H',
      promise:
        'A collector of traces gets no text, account, key or secret. No run waits for it, and a ' +
        'stop half a second.',
      tests: [
        ['test/telemetry/spans.test.ts', 'exports no text, no secret and no account'],
        ['test/telemetry/exporter.test.ts', 'a service pays and stops as ever while its'],
        ['test/telemetry/exporter.test.ts', 'holds no more than its queue'],
        ['test/config/telemetry.test.ts', 'has its headers shown in no form'],
        ['test/http/trace.test.ts', 'is not told to an upstream that pass_to does not name'],
      ],
      guards: [
        ['src/front/telemetry/attributes.ts', 'runAttributes'],
        ['src/front/telemetry/exporter.ts', 'openExporter'],
        ['src/models/upstream/model-server.ts', 'modelServer'],
      ],
    },
    {
      id: 'E5',
      severity: 'C',
      promise: 'Upstream keys come from the environment or a file, and are told nowhere.',
      tests: [
        [
          'test/runs/lying-upstream.test.ts',
          'no hold is left, and nothing of the upstreams is written or logged',
        ],
        [
          'test/config/entries.test.ts',
          'no form of showing the configuration has one, wherever it came from',
        ],
        [
          'test/models/api.test.ts',
          'lists all without a key, with prices, and nothing of where they run',
        ],
        ['test/config/entries.test.ts', 'an upstream key comes from its variable or its file'],
        [
          'test/config/entries.test.ts',
          'the database comes from a file that its owner alone may read',
        ],
      ],
      guards: [
        ['src/config/config.ts', 'findSecret'],
        ['src/config/config.ts', 'readSecret'],
        ['src/config/show.ts', 'shownEntries'],
      ],
    },
    {
      id: 'E6',
      severity: 'H',
      promise: 'An upstream has a certificate that somebody vouches for.',
      tests: [
        [
          'test/upstream/http.test.ts',
          'a server with a certificate that nobody vouches for is unreachable',
        ],
        ['test/upstream/tls.test.ts', 'a certificate for another name or of an unknown authority'],
      ],
      guards: [
        ['src/models/upstream/http.ts', 'request'],
        ['src/models/upstream/wire/lines.ts', 'makeLines'],
      ],
    },
    {
      id: 'E7',
      severity: 'H',
      promise:
        'A call has limits of time and is not tried again after its first byte; an upstream that ' +
        'fails again and again is left alone until one request finds that it works.',
      tests: [
        ['test/upstream/http.test.ts', 'how long it may take'],
        [
          'test/upstream/tls.test.ts',
          'a connection to a server that never answers the handshake ends',
        ],
        ['test/runs/lying-upstream.test.ts', 'is not asked after the first byte'],
        ['test/upstream/breaker.test.ts', 'an open breaker'],
        ['test/runs/breaker.test.ts', 'three failures in a row'],
        ['test/runs/breaker.test.ts', 'while it is open'],
        ['test/runs/breaker.test.ts', 'one request tries it; all others are refused meanwhile'],
      ],
      guards: [
        ['src/models/upstream/http.ts', 'watchOver'],
        ['src/models/upstream/wire/exchange.ts', 'Exchange'],
        ['src/models/upstream/breaker.ts', 'Breaker'],
        ['src/runs/circuit.ts', 'assertCircuitClosed'],
      ],
      missing: 'a limit of its own for connecting: it counts into the wait for the first byte.',
    },
    {
      id: 'E8',
      severity: 'H',
      promise: 'A second upstream is asked only before the first byte, within the same hold.',
      tests: [
        [
          'test/runs/lying-upstream.test.ts',
          'is asked when the first gave no byte, within the same hold',
        ],
      ],
      guards: [['src/runs/route.ts', 'tryRoute']],
    },
    {
      id: 'E11',
      severity: 'C',
      promise:
        'A connection to an upstream carries requests of one account; bytes that answer no ' +
        'request close it.',
      tests: [
        ['test/runs/kept-connections.test.ts', 'when the next request comes: no other account'],
        ['test/runs/kept-connections.test.ts', 'while the next run waits: runs of two accounts'],
        ['test/upstream/kept.test.ts', 'serves requests of one account only'],
        ['test/upstream/kept.test.ts', 'that received a second answer while idle is closed'],
        ['test/upstream/kept.test.ts', 'by fetch each request has a connection of its own'],
        ['test/upstream/tls.test.ts', 'a kept connection serves one account'],
        ['test/upstream/idle.test.ts', 'an idle connection is only given to its own account'],
        ['test/upstream/idle.test.ts', 'an account keeps at most 64 idle connections'],
        ['test/upstream/idle.test.ts', 'with 512 idle connections each further one closes'],
      ],
      guards: [
        ['src/models/upstream/wire/lines.ts', 'makeLines'],
        ['src/models/upstream/wire/lines.ts', 'afterPoll'],
        ['src/models/upstream/wire/idle.ts', 'makeIdleLines'],
        ['src/models/upstream/wire/wire.ts', 'openFetched'],
      ],
    },
    {
      id: 'E12',
      severity: 'C',
      promise: 'An upstream hears a run once: a request that was written is not sent again.',
      tests: [
        ['test/runs/kept-connections.test.ts', 'hears it once: the run is a 502'],
        ['test/runs/kept-connections.test.ts', 'hears it once: the next upstream of the route'],
        ['test/upstream/kept.test.ts', 'that is closed after it heard a request fails it'],
        [
          'test/upstream/kept.test.ts',
          'that its server closed before the next request was written',
        ],
        ['test/upstream/tls.test.ts', 'a connection that is closed after it heard a request'],
      ],
      guards: [['src/models/upstream/wire/exchange.ts', 'Exchange']],
    },
    {
      id: 'E13',
      severity: 'C',
      promise:
        'An answer that two readers could part differently is an upstream error and closes its ' +
        'connection.',
      tests: [
        ['test/runs/kept-connections.test.ts', 'an answer that readers disagree on is a 502'],
        ['test/upstream/reader-differential.test.ts', 'keeps no connection after %s'],
        ['test/upstream/reader-differential.test.ts', 'whatever keeps a connection here is the'],
        ['test/upstream/wire.test.ts', '%p is none'],
      ],
      guards: [
        ['src/models/upstream/wire/message-head.ts', 'readHead'],
        ['src/models/upstream/wire/message-body.ts', 'endLine'],
        ['src/models/upstream/wire/header-field.ts', 'readField'],
      ],
    },
    {
      id: 'E14',
      severity: 'C',
      promise:
        'A few accounts whose requests fail do not stop the runs of others at the same upstream.',
      tests: [
        ['test/runs/breaker-accounts.test.ts', 'eight failing requests of two accounts in turn'],
        ['test/runs/breaker-accounts.test.ts', 'if they open it because nobody else asked'],
        ['test/runs/breaker-accounts.test.ts', 'a request that one of them leaves hanging'],
        ['test/runs/breaker-accounts.test.ts', 'a dead upstream is left alone after five'],
        ['test/upstream/breaker-accounts.test.ts', 'a breaker that several accounts share'],
        ['test/upstream/breaker-accounts.test.ts', 'are at most 4,096'],
      ],
      guards: [
        ['src/models/upstream/breaker.ts', 'Breaker'],
        ['src/models/upstream/breaker-accounts.ts', 'recentAccounts'],
        ['src/runs/circuit.ts', 'assertCircuitClosed'],
      ],
    },
    ...attested,
  ],
}
