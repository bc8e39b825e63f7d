/** Puts the leaves of a tree into the order of their ids, a part at a time. */
import { leafWidth, partLeaves } from './leaves.ts'

/**
 * The parts of a tree in order, from its stored leaves in any order; between two parts other work
 * can go on. Ids are hashes, so that each first byte has about as many.
 */
export function* sortedParts(leaves: Uint8Array): Generator<Uint8Array, void, void> {
  const buckets: number[][] = Array.from({ length: 256 }, () => [])
  for (let at = 0; at < leaves.length; at += leafWidth) buckets[leaves[at] ?? 0]?.push(at)
  const idAt = (at: number) => leaves.subarray(at, at + 32)
  let part = new Uint8Array(partLeaves * leafWidth)
  let filled = 0
  for (const bucket of buckets) {
    bucket.sort((a, b) => Buffer.compare(idAt(a), idAt(b)))
    for (const at of bucket) {
      part.set(leaves.subarray(at, at + leafWidth), filled)
      filled += leafWidth
      if (filled < part.length) continue
      yield part
      part = new Uint8Array(partLeaves * leafWidth)
      filled = 0
    }
  }
}
