/** Makes chat streams as servers write them that do not keep to the protocol. */
import type { Json } from '../../../src/kernel/canonical.ts'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import type { Prng } from '../../ledger/prng.ts'

/** The words of a stream of any form. */
export type Truth = { text: string; reasoning: string; calls: { name: string; args: JsonObject }[] }

export function makeTruth(prng: Prng): Truth {
  const words = ['', 'Grüße', ' 世界', 'a "b"', '\n', '{"x":1}', ' end']
  const some = (most: number): string =>
    Array.from({ length: prng.below(most) }, () => prng.pick(words)).join('')
  return {
    text: some(6),
    reasoning: prng.below(3) === 0 ? some(4) : '',
    calls: Array.from({ length: prng.below(4) }, (_, at) => ({
      name: prng.pick(['read', 'list', 'write']),
      args: { path: `${at} ${prng.pick(words)}` },
    })),
  }
}

/** A text in pieces. */
export function piecesOf(prng: Prng, text: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const to = from + 1 + prng.below(8)
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}

type Habits = {
  index: 'right' | 'zero' | 'none' | 'null' | 'text' | 'from one'
  id: 'right' | 'none' | 'empty' | 'repeated' | 'late'
  args: 'pieces' | 'whole' | 'object'
  name: 'first' | 'late' | 'repeated'
  type: 'right' | 'none'
  place: 'function' | 'flat'
}

function habitsOf(prng: Prng): Habits {
  const habits: Habits = {
    index: prng.pick(['right', 'zero', 'none', 'null', 'text', 'from one']),
    id: prng.pick(['right', 'none', 'empty', 'repeated', 'late']),
    args: prng.pick(['pieces', 'whole', 'object']),
    name: prng.pick(['first', 'late', 'repeated']),
    type: prng.pick(['right', 'none']),
    place: prng.pick(['function', 'flat']),
  }
  const isPlaced = !['zero', 'none', 'null'].includes(habits.index)
  // Without an index or an id from the start, only the name says where a call begins.
  const isNamed = habits.id === 'right' || habits.id === 'repeated'
  if (!isPlaced && !isNamed && habits.name !== 'first') habits.name = 'first'
  if (!isPlaced && habits.id === 'late') habits.id = 'none'
  return habits
}

function callPieces(
  prng: Prng,
  { name, args }: Truth['calls'][number],
  at: number,
  habits: Habits,
) {
  const text = JSON.stringify(args)
  const said: Json[] =
    habits.args === 'object'
      ? [args]
      : habits.args === 'whole'
        ? [text]
        : ['', ...piecesOf(prng, text)]
  if (habits.name === 'late' && said.length === 1) said.push('')
  return said.map((one, part): JsonObject => {
    const isFirst = part === 0
    const isLast = part === said.length - 1
    const hasName = habits.name === 'repeated' || (habits.name === 'late' ? isLast : isFirst)
    const called: JsonObject = { ...(hasName ? { name } : {}), arguments: one }
    const hasId =
      habits.id === 'repeated' || (habits.id === 'late' ? isLast : isFirst && habits.id === 'right')
    return {
      ...indexMember(habits.index, at),
      ...(hasId ? { id: `id-${at}` } : habits.id === 'empty' ? { id: '' } : {}),
      ...(habits.type === 'right' && isFirst ? { type: 'function' } : {}),
      ...(habits.place === 'flat' ? called : { function: called }),
    }
  })
}

function indexMember(habit: Habits['index'], at: number): JsonObject {
  if (habit === 'none') return {}
  if (habit === 'null') return { index: null }
  if (habit === 'text') return { index: String(at) }
  return { index: habit === 'zero' ? 0 : habit === 'from one' ? at + 1 : at }
}

/** The frames of a chat stream that says so. */
export function oddChat(prng: Prng, truth: Truth): { body: string; ask: string } {
  const role = prng.pick<JsonObject>([{ role: 'assistant' }, {}, { role: null }, { role: '' }])
  const isRoleEach = prng.below(2) === 0
  const saying = prng.pick(['text', 'text', 'parts', 'message', 'legacy'])
  const finish = prng.pick(['stop', 'eos', 'STOP', 'something', { type: 'stop' }, null])
  const open = prng.pick<JsonObject>([
    { finish_reason: null },
    {},
    { finish_reason: '' },
    { finish_reason: 'null' },
  ])
  const index = prng.pick<JsonObject>([{ index: 0 }, {}, { index: null }, { index: '0' }])
  const habits = habitsOf(prng)
  const frames: string[] = []
  let count = 0
  const say = (delta: JsonObject, end: JsonObject = open): void => {
    const said = isRoleEach || count++ === 0 ? { ...role, ...delta } : delta
    const isLegacy = saying === 'legacy' && Object.keys(delta).join() === 'content'
    const member: JsonObject = isLegacy
      ? { text: delta['content'] ?? '' }
      : saying === 'message'
        ? { message: said }
        : { delta: said }
    frames.push(JSON.stringify({ id: 'c', choices: [{ ...index, ...member, ...end }] }))
  }
  const noise = (): void => {
    const one = prng.pick([
      '{"choices":null}',
      '{"choices":[]}',
      'null',
      '{"x_info":1}',
      JSON.stringify({ choices: [{ ...index, delta: saying === 'message' ? undefined : null }] }),
      JSON.stringify({ choices: [{ ...index, delta: { tool_calls: [] } }] }),
    ])
    if (saying !== 'message' || !one.includes('delta')) frames.push(one)
  }
  if (prng.below(3) === 0) noise()
  for (const reasoning_content of piecesOf(prng, truth.reasoning)) {
    if (saying === 'parts') {
      say({
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: reasoning_content }] }],
      })
    } else say({ reasoning_content })
  }
  for (const content of piecesOf(prng, truth.text)) {
    if (prng.below(4) === 0) noise()
    say({ content: saying === 'parts' ? [{ type: 'text', text: content }] : content })
  }
  for (const [at, call] of truth.calls.entries()) {
    for (const piece of callPieces(prng, call, at, habits)) say({ tool_calls: [piece] })
  }
  const isDone = finish === null || prng.below(3) > 0
  if (finish !== null || count === 0) say({}, { finish_reason: finish })
  const line = prng.pick(['\n\n', '\n', '\r\n\r\n'])
  const field = prng.pick(['data: ', 'data:', ''])
  const body =
    frames.map((frame) => field + frame + line).join('') + (isDone ? `data: [DONE]${line}` : '')
  return { body, ask: JSON.stringify({ saying, finish, habits }) }
}
