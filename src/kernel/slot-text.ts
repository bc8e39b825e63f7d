/** Reads and writes sets of slots as text, as `0-9, 12`. */
import { slotCount } from './shard.ts'

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
export function slotsText(slots: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const slot of slots) {
    const last = ranges.at(-1)
    if (last && last[1] === slot - 1) last[1] = slot
    else ranges.push([slot, slot])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
