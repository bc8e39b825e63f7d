/** The heads of a log that nodes gave away, held against the leaves that the log had. */

import { toHex } from '../../src/kernel/hex.ts'
import { grow, rootOf } from '../../src/proof/log/tree.ts'
import type { Node } from './nodes.ts'
import type { PgServer } from './postgres-server.ts'

export type SeenHead = { issuer: string; size: number; root: string; at: number; node: string }

export type Heads = { seen: SeenHead[]; stop(): Promise<void> }

/**
 * Collects every head that any node serves, four times a second. Asks for the proof of the newest
 * receipt first: that makes a node sign a head over it.
 */
export function collectHeads(
  { nodes }: { nodes: readonly Pick<Node, 'name' | 'server'>[] },
  newestReceipt: () => string | undefined,
): Heads {
  const seen: SeenHead[] = []
  const known = new Set<string>()
  let isOver = false
  const watching = nodes.map(async (node) => {
    while (!isOver) {
      try {
        const signal = AbortSignal.timeout(2000)
        const receipt = newestReceipt()
        if (receipt) {
          await (await node.server.call(`/v1/receipts/${receipt}/proof`, { signal })).body?.cancel()
        }
        const { log } = await (await node.server.call('/v1/anchors', { signal })).json()
        const { checkpoint } = log
        const id = JSON.stringify(checkpoint)
        if (checkpoint && !known.has(id)) {
          known.add(id)
          const { issuer, size, root } = checkpoint
          seen.push({ issuer, size: Number(size), root, at: performance.now(), node: node.name })
        }
      } catch {
        // A node that does not answer gives no head away.
      }
      await Bun.sleep(250)
    }
  })
  return {
    seen,
    async stop() {
      isOver = true
      await Promise.all(watching)
    },
  }
}

/** The root of a log at each of its sizes, from 1 on, computed from its leaves. */
export async function rootsOf(server: PgServer, start = 0): Promise<string[]> {
  const leaves = await server.ask<{ hash: Uint8Array }>(
    `select substring(hashes from 1 for 32) as hash from log_leaves
     where idx >= ${start} order by idx`,
  )
  const peaks: Uint8Array[] = []
  return leaves.map(({ hash }, size) => {
    grow(peaks, size, new Uint8Array(hash))
    return toHex(rootOf({ size: size + 1, peaks }))
  })
}

/** The heads that are none of this log: another root at their size, or more leaves than it has. */
export const strangersTo = (roots: readonly string[], heads: readonly SeenHead[]): SeenHead[] =>
  heads.filter(({ size, root }) => roots[size - 1] !== root)
