/** The steps from a leaf to the root, for display. */
import { fromHex, type Hex, toHex } from '../kernel/hex.ts'
import { nodeHash } from './merkle.ts'
import type { Proof } from './proof.ts'

/** One step of a path: what was reached, and what is hashed with it; `side` is where that is. */
export type PathStep = { hash: Hex; sibling: Hex; side: 'left' | 'right' }

/**
 * The path of a proof from its leaf to the root that it leads to, step by step (RFC 9162
 * §2.1.3.2). It is for looking at: whether it proves anything, `verifyInclusion` decides.
 */
export function pathSteps(proof: Pick<Proof, 'index' | 'size' | 'leaf' | 'path'>): {
  steps: PathStep[]
  root: Hex
} {
  let fn = BigInt(proof.index)
  let sn = BigInt(proof.size) - 1n
  let hash = fromHex(proof.leaf)
  const steps = proof.path.map((sibling): PathStep => {
    const isRight = fn % 2n === 1n || fn === sn
    const step = { hash: toHex(hash), sibling, side: isRight ? 'left' : 'right' } as const
    const other = fromHex(sibling)
    hash = isRight ? nodeHash(other, hash) : nodeHash(hash, other)
    while (isRight && fn % 2n === 0n && fn !== 0n) {
      fn /= 2n
      sn /= 2n
    }
    fn /= 2n
    sn /= 2n
    return step
  })
  return { steps, root: toHex(hash) }
}
