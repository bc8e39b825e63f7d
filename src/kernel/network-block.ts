/** Networks in CIDR form. */
import { type Address, parseAddress } from './network-address.ts'

/** An address, or a network of them in CIDR form: the first `bits` bits of its address. */
export type Block = Address & { bits: number }

/** Reads `10.0.0.0/8`, or an address alone; undefined for anything else. */
export function parseBlock(entry: string): Block | undefined {
  const [text = '', length, ...rest] = entry.split('/')
  const address = parseAddress(text)
  if (!address || rest.length > 0) return undefined
  const most = address.kind === 4 ? 32 : 128
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : -1
  return bits < 0 || bits > most ? undefined : { ...address, bits }
}

export function isWithin(address: Address, block: Block): boolean {
  if (address.kind !== block.kind) return false
  return block.groups.every((group, i) => {
    const bits = Math.min(16, Math.max(0, block.bits - 16 * i))
    return (group ^ (address.groups[i] ?? 0)) >> (16 - bits) === 0
  })
}

/** Whether every address of `inner` is one of `outer`. */
export const covers = (outer: Block, inner: Block): boolean =>
  inner.bits >= outer.bits && isWithin(inner, outer)

/** Whether one network as text lies in another: their texts need not be alike. */
export function isPart(outer: string, inner: string): boolean {
  const [large, small] = [parseBlock(outer), parseBlock(inner)]
  return large !== undefined && small !== undefined && covers(large, small)
}
