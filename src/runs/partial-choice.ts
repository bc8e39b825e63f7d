/**
 * A choice of an answer as far as it came, its calls of tools included, and the form that receipts
 * commit to.
 */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../kernel/json-object.ts'
import { inParts, isEmpty, longestLabel, textsIn } from '../models/free-members.ts'
import { detailsOf } from '../models/protocols/reasoning-details.ts'

/**
 * A choice in the form that receipts commit to, the same for streams and whole answers: everything
 * that was relayed of it and is not empty.
 */
export type Choice = {
  index: number
  message: { role: 'assistant'; content: Json } & OtherMembers
  finish_reason: string | null
} & OtherMembers
/** Members that not every answer has. */
type OtherMembers = { [member: string]: Json }

/** A choice as far as it came. */
export type PartialChoice = {
  index: number
  content: string | null
  finishReason: string | null
  calls: Map<number, PartialCall> | undefined
  /** The other members of its message, and its own. */
  said: Pieces | undefined
  beside: Pieces | undefined
  functionCall: Pieces | undefined
  logprobs: Pieces | undefined
  sealedBytes: number
  /** The end of the content, so many short texts. */
  recent: string
  recentCount: number
}

export function addContent(gathered: PartialChoice, text: string): void {
  // Once it was more than text, it stays so.
  if (gathered.said?.has('content')) gathered.said.add('content', text)
  else gathered.content = (gathered.content ?? '') + text
}

/** Moves the recent texts to the content, as a copy. They hold no half of a surrogate pair. */
export function keepRecent(gathered: PartialChoice): void {
  if (gathered.recentCount === 0) return
  addContent(gathered, Buffer.from(gathered.recent).toString())
  gathered.recent = ''
  gathered.recentCount = 0
}

/** Replaces lone surrogates, which a cut can leave and no receipt can commit to. */
export function toChoice(gathered: PartialChoice): Choice {
  keepRecent(gathered)
  const { index, calls, functionCall, said, logprobs, beside } = gathered
  const text = gathered.content?.toWellFormed()
  const finish_reason = gathered.finishReason?.toWellFormed() ?? null
  const isPlain = !calls && !functionCall && !said && !logprobs && !beside
  if (isPlain) return { index, message: { role: 'assistant', content: text ?? '' }, finish_reason }
  const isCalling = calls !== undefined && calls.size > 0
  const message: Choice['message'] = {
    role: 'assistant',
    // Beside tool calls, upstreams send empty content as '' or null; receipts use null.
    content: isCalling ? text || null : (text ?? ''),
    ...(isCalling && { tool_calls: wellFormed(toToolCalls(calls)) }),
    ...namedMembers('function_call', functionCall),
    ...saidIn(said),
  }
  const more = { ...namedMembers('logprobs', logprobs), ...membersOf(beside) }
  return { index, message, finish_reason, ...more }
}

const membersOf = (pieces: Pieces | undefined): JsonObject =>
  pieces ? objectOf(wellFormed(pieces.members())) : {}

/** Details of reasoning come in pieces that only some of their members are cut into. */
function saidIn(pieces: Pieces | undefined): JsonObject {
  const members = membersOf(pieces)
  const details = detailsOf(members)
  return details.length > 0 ? { ...members, reasoning_details: details } : members
}

function namedMembers(name: string, pieces: Pieces | undefined): JsonObject {
  const members = membersOf(pieces)
  return isEmpty(members) ? {} : { [name]: members }
}

/** A call as far as it came. */
type PartialCall = {
  id: string
  type: string
  function?: Pieces
  custom?: Pieces
  /** Members that no protocol of ours names. */
  more?: Pieces
}

/** Adds pieces of calls by index; returns the UTF-8 bytes of what they say. */
export function addToolCalls(
  calls: Map<number, PartialCall>,
  pieces: readonly JsonObject[],
): number {
  let bytes = 0
  pieces.forEach((piece, position) => {
    const index = piece['index'] === undefined ? position : integer(piece['index'])
    const call = calls.get(index) ?? { id: '', type: 'function' }
    calls.set(index, call)
    for (const name in piece) bytes += addMember(call, name, piece[name] ?? null)
  })
  return bytes
}

function addMember(call: PartialCall, name: string, value: Json): number {
  if ((name === 'id' || name === 'type') && typeof value === 'string') {
    call[name] = value
    return bytesOfName(value)
  }
  if ((name === 'function' || name === 'custom') && isObject(value)) {
    call[name] ??= new Pieces()
    return call[name].addEach(value)
  }
  if (name === 'index' && typeof value === 'number') return 0
  call.more ??= new Pieces()
  return call.more.add(name, value)
}

/** The calls in their order, as a whole answer has them. */
const toToolCalls = (calls: ReadonlyMap<number, PartialCall>): Json[] =>
  [...calls].sort(([a], [b]) => a - b).map(([, call]) => toToolCall(call))

function toToolCall({ id, type, function: called, custom, more }: PartialCall): JsonObject {
  const said: JsonObject = custom
    ? { custom: { name: '', input: '', ...custom.members() } }
    : { function: { name: '', arguments: '', ...called?.members() } }
  if (custom && called) said['function'] = called.members()
  return { id, type, ...said, ...more?.members() }
}

export const integer = (value: Json | undefined): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0

/** Pieces in a row that come to one value. `text`: of a value that is neither text nor list. */
type JoinedPiece =
  | { kind: 'text'; pieces: string[] }
  | { kind: 'list'; value: Json[] }
  | { kind: 'other'; value: Json; text: string }

/**
 * Members as far as they came: texts in a row are joined, lists appended, and equal values are one.
 * A member that comes to more than one value is a list of all in their order.
 */
export class Pieces {
  private readonly joined = new Map<string, JoinedPiece[]>()

  has(name: string): boolean {
    return this.joined.has(name)
  }

  /** Whether a member ends with this text, as far as it came. */
  endsWith(name: string, text: string): boolean {
    const last = this.joined.get(name)?.at(-1)
    if (last?.kind !== 'text') return false
    // Piece by piece, from the end: to join them all each time would take their square.
    let end = text.length
    for (let at = last.pieces.length - 1; at >= 0 && end > 0; at--) {
      const piece = last.pieces[at] ?? ''
      if (piece.length >= end) return piece.endsWith(text.slice(0, end))
      if (!text.endsWith(piece, end)) return false
      end -= piece.length
    }
    return end === 0
  }

  /** Adds a piece; returns the UTF-8 bytes of what it says, as JSON unless it is text. */
  add(name: string, piece: Json): number {
    if (isEmpty(piece)) return 0
    const all = this.joined.get(name)
    const last = all?.at(-1)
    if (typeof piece === 'string') {
      if (last?.kind === 'text') last.pieces.push(piece)
      else this.push(name, all, { kind: 'text', pieces: [piece] })
      return Buffer.byteLength(piece)
    }
    const text = JSON.stringify(piece)
    if (Array.isArray(piece)) {
      if (last?.kind === 'list') for (const item of piece) last.value.push(item)
      else this.push(name, all, { kind: 'list', value: [...piece] })
    } else if (last?.kind !== 'other' || last.text !== text) {
      this.push(name, all, { kind: 'other', value: piece, text })
    } else return 0
    // The labels around a word would else count ten times as much as the word.
    const said = inParts.has(name) ? textsIn(piece) : [text]
    return said.reduce((bytes, one) => bytes + Buffer.byteLength(one), 0)
  }

  /** Adds the members of an object one by one: each is text or a list that comes in pieces. */
  addEach(members: JsonObject): number {
    let bytes = 0
    for (const name in members) bytes += this.add(name, members[name] ?? null)
    return bytes
  }

  /** The members as joined so far. */
  members(): JsonObject {
    const members = [...this.joined].map(([name, all]): [string, Json] => {
      const [first, ...more] = all.map((one) =>
        one.kind === 'text' ? one.pieces.join('') : one.value,
      )
      return [name, more.length === 0 ? (first ?? null) : [first ?? null, ...more]]
    })
    return Object.fromEntries(members)
  }

  private push(name: string, all: JoinedPiece[] | undefined, joined: JoinedPiece): void {
    if (all) all.push(joined)
    else this.joined.set(name, [joined])
  }
}

/** A copy in which every text is whole: a cut can leave half a surrogate pair. */
export function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map(wellFormed)
  if (!isObject(value)) return value
  const members = Object.entries(value)
  return Object.fromEntries(
    members.map(([name, member]) => [name.toWellFormed(), wellFormed(member)]),
  )
}

/** The bytes of a text that names something and says nothing, unless it is too long for a name. */
export const bytesOfName = (name: string): number =>
  name.length > longestLabel ? Buffer.byteLength(name) : 0
