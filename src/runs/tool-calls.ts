/** Gathers the calls of tools that an answer makes, whole or in pieces. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import { bytesOfName, Pieces } from './pieces.ts'

/** A call as far as it came. */
export type PartialCall = {
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
export const toToolCalls = (calls: ReadonlyMap<number, PartialCall>): Json[] =>
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
