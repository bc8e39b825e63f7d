/** Reads and writes sets of slots as text, as `0-9, 12`. */
import { alphabet, slotCount } from '../../kernel/shard.ts'

export const slotsForm = 'slots like "256-383" or "0-9, 12", each 0 to 1023'
export const shardIdForm =
  'two characters: a letter, then a letter or a digit, without i, l, o and u; like s3'

/** The slots of a text like `0-9, 12`, rising; undefined for another form or a slot twice. */
export function parseSlots(text: string): number[] | undefined {
  const found: number[] = []
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '' && text.trim() === '') return []
    const [, low = '', high = low] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? []
    const [from, to] = [Number(low), Number(high)]
    if (low === '' || from > to || to >= slotCount) return undefined
    for (let slot = from; slot <= to; slot++) found.push(slot)
  }
  found.sort((a, b) => a - b)
  return found.some((slot, i) => slot === found[i - 1]) ? undefined : found
}

/** Rising slots as text: `0-9, 12`; empty for none. */
export const slotsText = (slots: readonly number[]): string =>
  rangesIn(slots)
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    .join(', ')

/** The ranges of rising numbers, first and last of each. */
function rangesIn(numbers: readonly number[]): [number, number][] {
  const ranges: [number, number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last && last[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges
}

/**
 * A regular expression that the two characters of these slots match, and those of no others:
 * `([0-9a-e][0-9a-z]|f[0-5])`. One that nothing matches for none.
 */
export function prefixPattern(slots: readonly number[]): string {
  const rows = new Map<number, number[]>()
  for (const slot of slots) rows.set(slot >> 5, [...(rows.get(slot >> 5) ?? []), slot & 31])
  // First characters with the same second ones stand together.
  const byEnds = Map.groupBy(rows, ([, ends]) => classOf(ends))
  const parts = [...byEnds].map(([ends, same]) => classOf(same.map(([first]) => first)) + ends)
  return parts.length === 0 ? '($^)' : `(${parts.join('|')})`
}

/** A class of characters; the whole alphabet reads as `[0-9a-z]`, which has no others in use. */
function classOf(digits: readonly number[]): string {
  if (digits.length === alphabet.length) return '[0-9a-z]'
  const [only = 0] = digits
  if (digits.length === 1) return alphabet.charAt(only)
  const runs: string[] = []
  for (const [kind, from, to] of [['0-9', 0, 9] as const, ['a-z', 10, 31] as const]) {
    const own = digits.filter((digit) => digit >= from && digit <= to)
    runs.push(own.length === to - from + 1 ? kind : rangesOf(own))
  }
  return `[${runs.join('')}]`
}

/** Rising digits as ranges of characters; letters that are not in the alphabet cannot occur. */
const rangesOf = (digits: readonly number[]): string =>
  rangesIn(digits)
    .map(([from, to]) => {
      const [first, last] = [alphabet.charAt(from), alphabet.charAt(to)]
      return to - from < 2 ? alphabet.slice(from, to + 1) : `${first}-${last}`
    })
    .join('')
