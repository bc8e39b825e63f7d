/** Gives each piece of a tool call its index, and the first of them an id, a type and a name. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { isEmpty } from '../../free-members.ts'
import { GrowingJson } from '../growing-json.ts'

/** A call as far as it came. */
type Call = {
  place: number
  /** The index that its server gives it. */
  index: number | undefined
  name: string
  text: GrowingJson
  isCustom: boolean
  /** Whether an id of its own came. */
  hasId: boolean
  /** Members that came before its name; undefined once the name was sent. */
  held: JsonObject | undefined
  /** Whether the next text may be that of another call of the same name. */
  mayRepeat: boolean
}

/** A piece as its server means it. */
type Piece = {
  id: string | undefined
  index: number | undefined
  name: string
  text: string
  isCustom: boolean
  /** Its other members, and those of what it calls. */
  more: JsonObject
  within: JsonObject
}

/** Makes an id for the call at a place. */
export type NewId = (place: number) => string

/**
 * Repairs the calls of one choice. A new id is a new call: some servers number all calls 0. Without
 * an id the index tells, without both the name, or the call before goes on.
 */
export class CallRepair {
  private readonly calls: Call[] = []
  private readonly ids = new Map<string, Call>()
  /** The last call of each index that a server gives. */
  private readonly byIndex = new Map<number, Call>()
  /** Whether each call has the index of its place. */
  private isNumbered = true

  constructor(private readonly newId: NewId) {}

  get hasCalls(): boolean {
    return this.calls.length > 0
  }

  /** The pieces to send: the very same list where nothing is odd. */
  repair(pieces: Json[]): Json[] {
    let repaired: Json[] | undefined
    for (let at = 0; at < pieces.length; at++) {
      const piece = pieces[at]
      if (isObject(piece) && this.isInOrder(piece)) {
        repaired?.push(piece)
        continue
      }
      repaired ??= pieces.slice(0, at)
      if (!isObject(piece)) continue
      const said = readPiece(piece)
      const call = this.callOf(said, at, pieces.length)
      const one = this.add(call, said)
      if (one) repaired.push(one)
    }
    return repaired ?? pieces
  }

  /** The pieces that end the calls: without a name, and `{}` for functions without arguments. */
  rest(): JsonObject[] {
    const pieces: JsonObject[] = []
    for (const call of this.calls) {
      const isBare = call.text.isEmpty && !call.isCustom
      if (isBare) call.text.add('{}')
      if (call.held) pieces.push(this.release(call))
      else if (isBare) pieces.push({ index: call.place, function: { arguments: '{}' } })
    }
    return pieces
  }

  /** Takes a piece that is as the protocol has it; false for one that has to be looked at. */
  private isInOrder(piece: JsonObject): boolean {
    const { index, id, type } = piece
    const isCustom = piece['custom'] !== undefined
    const said = isCustom ? piece['custom'] : piece['function']
    const text = isObject(said) ? said[isCustom ? 'input' : 'arguments'] : undefined
    if (typeof text !== 'string' || !isObject(said)) return false
    if (isCustom && piece['function'] !== undefined) return false
    const { name } = said
    if (id === undefined) {
      const call = this.isNumbered && typeof index === 'number' ? this.calls[index] : undefined
      if (!call || call.held || call.mayRepeat) return false
      if (name !== undefined || isCustom !== call.isCustom) return false
      call.text.add(text)
      return true
    }
    if (typeof id !== 'string' || id === '' || typeof name !== 'string' || name === '') return false
    if (index !== this.calls.length || this.ids.has(id)) return false
    if (type !== (isCustom ? 'custom' : 'function')) return false
    const call = this.begin({ index, name, isCustom })
    call.text.add(text)
    this.setId(id, call)
    return true
  }

  private begin({ index, name, isCustom }: Pick<Call, 'index' | 'name' | 'isCustom'>): Call {
    const call: Call = {
      ...{ place: this.calls.length, index, name, text: new GrowingJson(), isCustom },
      ...{ hasId: false, held: undefined, mayRepeat: false },
    }
    this.calls.push(call)
    if (index !== undefined) this.byIndex.set(index, call)
    this.isNumbered &&= call.index === call.place
    return call
  }

  private setId(id: string, call: Call): void {
    this.ids.set(id, call)
    call.hasId = true
  }

  private callOf(piece: Piece, position: number, count: number): Call {
    const { id, index } = piece
    const known = id === undefined ? undefined : this.ids.get(id)
    // One id for two calls, unless the name of one came in parts.
    const isOne = piece.name !== known?.name && index !== undefined && index === known?.index
    if (known && (isOne || !begins(known, piece))) return known
    const before = this.callBefore(piece, position, count)
    if (before && this.goesOn(before, piece)) return before
    piece.name ||= before?.mayRepeat ? before.name : ''
    if (before) before.mayRepeat = false
    const call = this.begin({ index, name: '', isCustom: piece.isCustom })
    call.held = {}
    return call
  }

  /** Whether a piece is of the call before it. An id may be late, but a call has one for good. */
  private goesOn(before: Call, piece: Piece): boolean {
    if (piece.id === undefined) return !begins(before, piece)
    const isAgain = piece.name === before.name && !before.text.isWhole
    const isLate = piece.name === '' || before.name === '' || isAgain
    return isLate && !this.ids.has(piece.id) && !before.hasId
  }

  /** The call that a piece belongs to unless it begins another one. */
  private callBefore({ index, name }: Piece, position: number, count: number): Call | undefined {
    if (index !== undefined) return this.byIndex.get(index)
    // Several pieces that name nothing: each of its own call.
    const together = count > 1 && name === '' ? this.calls.length - count + position : -1
    return this.calls[together] ?? this.calls.at(-1)
  }

  /** Adds a piece to its call; undefined while it has to wait for its name. */
  private add(
    call: Call,
    { id, name, text, isCustom, more, within }: Piece,
  ): JsonObject | undefined {
    if (id !== undefined && !this.ids.has(id)) this.setId(id, call)
    call.isCustom ||= isCustom
    if (call.held) {
      call.name ||= name
      call.text.add(text)
      const type = call.isCustom ? 'custom' : 'function'
      const held: JsonObject = {
        ...more,
        type,
        within: { ...objectOf(call.held['within']), ...within },
      }
      if (id !== undefined && this.ids.get(id) === call) held['id'] = id
      Object.assign(call.held, held)
      return call.name === '' ? undefined : this.release(call)
    }
    const isNamed = name === call.name
    const isAgain = isNamed && text !== '' && call.text.equals(text) && call.text.isWhole
    call.mayRepeat = isNamed && text === '' && call.text.isWhole
    if (isAgain || (text === '' && isEmpty(more) && isEmpty(within))) return undefined
    call.text.add(text)
    const said = call.isCustom ? { input: text } : { arguments: text }
    return { index: call.place, ...more, [memberOf(call)]: { ...within, ...said } }
  }

  private release(call: Call): JsonObject {
    const { place, name, isCustom } = call
    const text = call.text.toString()
    const { id = this.newId(place), type = 'function', within, ...more } = call.held ?? {}
    call.held = undefined
    const said = isCustom ? { input: text } : { arguments: text }
    return {
      index: place,
      id,
      type,
      ...more,
      [memberOf(call)]: { ...objectOf(within), name, ...said },
    }
  }
}

const memberOf = ({ isCustom }: Call): 'custom' | 'function' => (isCustom ? 'custom' : 'function')

/** Whether a piece with a name begins another call than the one before it. */
function begins(before: Call, { name, text }: Piece): boolean {
  if (before.name === '') return false
  if (name === '') return before.mayRepeat && text !== ''
  if (name !== before.name) return true
  return text !== '' && !before.text.equals(text) && before.text.isWhole
}

function readPiece(piece: JsonObject): Piece {
  const { index, id, type, function: called, custom, ...more } = piece
  const isCustom = isObject(custom) || (type === 'custom' && !isObject(called))
  const isFlat = !isObject(called) && !isObject(custom)
  const {
    name,
    arguments: args,
    input,
    ...others
  } = isFlat ? more : { ...objectOf(called), ...objectOf(custom) }
  return {
    id: nameOf(id) || undefined,
    index: indexOf(index),
    name: nameOf(name),
    text: argumentsOf(args ?? input),
    isCustom,
    more: setMembers(isFlat ? others : more),
    within: isFlat ? {} : setMembers(others),
  }
}

const setMembers = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)))

const nameOf = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

/** An index, also as text; undefined for anything else. */
export function indexOf(value: Json | undefined): number | undefined {
  const index = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : undefined
}

/** Arguments as text: those that a server writes as a value become their JSON. */
export const argumentsOf = (value: Json | undefined): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
