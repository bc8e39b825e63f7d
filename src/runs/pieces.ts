/** Joins the pieces of an answer's members, as receipts commit to them. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import { inParts, isEmpty, longestLabel, textsIn } from '../models/free-members.ts'
import { textOf } from '../models/protocols/reading.ts'

/** Pieces in a row that came to one value. `text`: of a value that is neither text nor list. */
type JoinedPiece = { kind: 'text' | 'list' | 'other'; value: Json; text: string }

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
    return last?.kind === 'text' && textOf(last.value).endsWith(text)
  }

  /** Adds a piece; returns the UTF-8 bytes of what it says, as JSON unless it is text. */
  add(name: string, piece: Json): number {
    if (isEmpty(piece)) return 0
    const all = this.joined.get(name)
    const last = all?.at(-1)
    if (typeof piece === 'string') {
      if (last?.kind === 'text') last.value = `${last.value}${piece}`
      else this.push(name, all, { kind: 'text', value: piece, text: '' })
      return Buffer.byteLength(piece)
    }
    const text = JSON.stringify(piece)
    if (Array.isArray(piece)) {
      if (Array.isArray(last?.value)) for (const item of piece) last.value.push(item)
      else this.push(name, all, { kind: 'list', value: [...piece], text: '' })
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
      const [first, ...more] = all.map(({ value }) => value)
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
