import type { JsonObject } from '../../../src/models/upstream/upstream.ts'
import type { Prng } from '../../ledger/prng.ts'

const texts = [
  ...['', ' ', ' the', 'é', '漢字', '😀', ' fox jumps over', '\u007f', '\u2028', '\ufeff', '</s>'],
  // What has to be escaped, or looks like the end of a frame.
  ...['"', '\\', '\n', '\t', '\u0000', 'a "quoted" word', 'C:\\temp', '"},"finish_reason":null}]}'],
  ...['\n\ndata: [DONE]\n\n', '{"content":"x"}', '"content":"', '\ud83d', '\ude00', 'null'],
  '<the text of this frame>',
]

const usual = [' word', 'é', '漢', '😀 ', '']

type Frame = (delta: JsonObject, reason?: string | null, more?: JsonObject) => string

/** How servers write a chunk: what varies from frame to frame is made by each call. */
const dialects: ((prng: Prng) => Frame)[] = [
  () => (delta, reason) => json({ choices: [{ index: 0, delta, finish_reason: reason ?? null }] }),
  () => (delta, reason) =>
    json({
      id: 'chatcmpl-7',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'large',
      system_fingerprint: 'fp_1',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason ?? null }],
      usage: null,
    }),
  // The surroundings change with each frame.
  (prng) => (delta, reason) =>
    json({
      id: 'chatcmpl-7',
      system_fingerprint: `fp_${prng.below(3)}`,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason ?? null }],
      obfuscation: 'x'.repeat(prng.below(5)),
    }),
  // Spaces between the tokens, and members in another order.
  () => (delta, reason) =>
    JSON.stringify(
      { choices: [{ finish_reason: reason ?? null, delta, index: 0 }], id: 'a' },
      null,
      1,
    ).replaceAll(/\n */g, ' '),
  // The role in every frame, and members that are null.
  () => (delta, reason) =>
    json({
      choices: [
        {
          index: 0,
          delta: { role: 'assistant', reasoning_content: null, ...delta },
          finish_reason: reason ?? null,
        },
      ],
    }),
  // Two choices that take turns for a while.
  (prng) => (delta, reason) =>
    json({
      choices: [{ index: prng.below(8) === 0 ? 1 : 0, delta, finish_reason: reason ?? null }],
    }),
  // The same text in two places.
  () => (delta, reason) =>
    json({
      echo: { content: delta['content'] ?? '' },
      choices: [{ index: 0, delta, finish_reason: reason ?? null }],
    }),
  // A member that is there twice: the last one counts.
  () => (delta, reason) =>
    json({ choices: [{ index: 0, delta, finish_reason: reason ?? null }] }).replace(
      '"content":',
      '"content":"first","content":',
    ),
  // Other output beside the text, in each frame the same.
  () => (delta, reason) =>
    json({
      choices: [{ index: 0, delta: { reasoning: 'so', ...delta }, finish_reason: reason ?? null }],
    }),
  (prng) => (delta, reason) =>
    prng.below(10) === 0
      ? json({ choices: [], usage: { completion_tokens: 5 } })
      : json({
          choices: [{ index: 0, delta, finish_reason: reason ?? null }],
          usage: { completion_tokens: 3 },
        }),
  // Two choices in one frame.
  () => (delta, reason) =>
    json({
      choices: [
        { index: 0, delta, finish_reason: reason ?? null },
        { index: 1, delta: { content: 'b' }, finish_reason: null },
      ],
    }),
  // So deep that only a short frame is read.
  (prng) => (delta, reason) => {
    const long = prng.below(60) === 0 ? { content: 'x'.repeat(16_300) } : {}
    const choice = { index: 0, delta: { ...delta, ...long }, finish_reason: reason ?? null }
    return json({ choices: [choice], deep: deep(101) })
  },
  // No index, and usage in each frame.
  (prng) => (delta, reason) =>
    json({
      choices: [{ delta, ...(reason ? { finish_reason: reason } : {}) }],
      usage: prng.below(4) === 0 ? { completion_tokens: prng.below(9) } : null,
    }),
]

const json = (value: unknown): string => JSON.stringify(value)

/** Deltas that say something else than plain text. */
const otherDeltas: JsonObject[] = [
  { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '{"a"' } }] },
  { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
  { content: 'so', reasoning_content: 'thinking' },
  { content: 'no', refusal: 'cannot' },
  { content: null },
  { content: 7 },
  {},
  { function_call: { name: 'f', arguments: 'x' } },
  { content: 'a', tool_calls: [] },
  { role: 'tool', content: 'a' },
]

/** Events that are not chunk, or break the stream. */
const oddEvents = [
  ': keep-alive',
  'event: ping',
  'id: 7\nretry: 5',
  'data',
  'data:',
  'data: {"choices":[]}',
  'data: {"choices":null,"usage":{"prompt_tokens":1,"completion_tokens":2}}',
  'data: {"id":"x"}',
  'data: {"choices":[{"index":0,\ndata: "delta":{"content":"two lines"}}]}',
  `data: ${json({ choices: [{ index: 0, delta: { content: 'x' } }], deep: deep(200) })}`,
  `data: ${json({ choices: [{ index: 0, delta: { content: 'x'.repeat(17_000) } }] })}`,
  `data: ${json({ choices: [{ index: 0, delta: { content: 'xy'.repeat(8100) } }] })}`,
]

const fatalEvents = [
  [
    'data: {"choices":[{"index":0,\ndata: "delta":{"content":"two"}}]}',
    'data: {"choices":[{"index":0,\n"delta":{"content":"lines"}}]}',
  ].join('\n\n'),
  'data: [DONE]',
  'data: {"error":{"message":"no"}}',
  'data: {"choices":[7]}',
  'data: {"choices":[{"index":"0","delta":{"content":"x"}}]}',
  'data: {"choices":[{"index":0,"delta":{"content":"x"}}]',
  'data: [1]',
  `: ${'x'.repeat(262_200)}`,
]

function deep(levels: number): unknown {
  let value: unknown = null
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

/** A frame as other servers write JSON: what needs no escape may have one. */
function escaped(prng: Prng, frame: string): string {
  if (prng.below(20) > 0) return frame
  return frame.replaceAll(/[\u0080-\uffff]|\//g, (one) =>
    one === '/' ? '\\/' : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The bytes of a stream that no one server would send, and how many frames it has. */
export function makeStream(prng: Prng): { bytes: Uint8Array; frames: number } {
  let frame = prng.pick(prng.below(2) === 0 ? dialects.slice(0, 2) : dialects)(prng)
  const events: string[] = []
  const say = (text: string): void => {
    const space = prng.below(40) === 0 ? '' : ' '
    events.push(`data:${space}${escaped(prng, text)}`)
  }
  if (prng.below(3) > 0) say(frame({ role: 'assistant', content: '' }))
  // Of a thousand frames.
  const odd = prng.pick([0, 5, 20, 100])
  const length = prng.pick([0, 1, 2, 5, 16, 30, 60, 100])
  for (let i = 0; i < length; i++) {
    if (prng.below(1000) >= odd) say(frame({ content: prng.pick(usual) + prng.below(100) }))
    else {
      const kind = prng.below(20)
      if (kind === 0) events.push(prng.pick(fatalEvents))
      else if (kind < 6) events.push(prng.pick(oddEvents))
      else if (kind < 10) say(frame(prng.pick(otherDeltas)))
      else if (kind < 11) say(frame({ content: prng.pick(texts) }, 'stop'))
      else if (kind < 13) frame = prng.pick(dialects)(prng)
      else say(frame({ content: prng.pick(texts) }))
    }
  }
  if (prng.below(8) > 0) say(frame({}, prng.pick(['stop', 'length'])))
  if (prng.below(2) > 0) say(json({ choices: [], usage: { completion_tokens: length } }))
  if (prng.below(4) > 0) events.push('data: [DONE]')
  const end = prng.pick(['\n', '\n', '\n', '\n', '\r\n', '\r'])
  const bom = prng.below(20) === 0 ? '\ufeff' : ''
  const text = bom + events.map((event) => `${event}\n\n`.replaceAll('\n', end)).join('')
  const bytes = Buffer.from(text)
  // Cut off anywhere, in the middle of a character too.
  const whole = prng.below(6) > 0
  return {
    bytes: whole ? bytes : bytes.subarray(0, prng.below(bytes.length + 1)),
    frames: events.length,
  }
}

/** The reads that bytes come in: many, few or one. */
export function readsOf(prng: Prng, bytes: Uint8Array): Uint8Array[] {
  const most = prng.pick([1, 20, 200, 1000, 1000, 100_000, 100_000])
  const reads: Uint8Array[] = []
  for (let from = 0; from < bytes.length; ) {
    const to = from + 1 + prng.below(most)
    reads.push(bytes.subarray(from, to))
    from = to
  }
  return reads
}
