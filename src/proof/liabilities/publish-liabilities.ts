/** Publishes liabilities: commits to all balances of one moment and logs that as a leaf. */
import type { Deps } from '../../app/deps-port.ts'
import { toHex } from '../../kernel/hex.ts'
import { LostLease } from '../../kernel/lost-lease.ts'
import type { Lease } from '../../storage/db/engine/lease.ts'
import type { LiabilitiesRow } from '../../storage/db/schema/schema.ts'
import {
  leafNodes,
  leafWidth,
  type PartHead,
  packHeads,
  partLeaves,
  rootOver,
} from '../../storage/liabilities/leaves.ts'
import { sortedParts } from '../../storage/liabilities/sort-leaves.ts'
import { type Liabilities, liabilitiesDigest } from '../../verify/liabilities.ts'
import { readTreasury } from './treasury.ts'

export type PublishDeps = Pick<
  Deps,
  | ('chain' | 'clock' | 'depositPolicy' | 'heads' | 'liabilities' | 'log' | 'logs')
  | ('random' | 'settings' | 'signer')
>

/** Parts stored in one transaction: about 50 kB, so that runs hardly wait for it. */
const batchParts = 4

/** Publishes liabilities once in each interval of the configuration, counted from 1970. */
export function liabilityPublisher(deps: PublishDeps): (ending: AbortSignal) => Promise<void> {
  return async (ending) => {
    const { everyMs, keepMs } = deps.settings.liabilities
    if (everyMs === 0 || !deps.heads.isOpen()) return
    const now = deps.clock.now()
    const newest = await deps.liabilities.newest()
    // A new service waits for the end of its first interval.
    const last = newest?.asOf ?? deps.logs.all[0]?.openedAt ?? now
    if (Math.floor(now / everyMs) <= Math.floor(last / everyMs)) return
    const lease = await deps.liabilities.takeLease()
    if (!lease) return
    try {
      await publishLiabilities(deps, lease, ending)
      await deps.liabilities.dropLeaves(now - keepMs)
    } catch (error) {
      // The node that took the lease says it.
      if (!(error instanceof LostLease)) throw error
    }
  }
}

/**
 * Makes the next statement; undefined where there is no account. What a process that dies leaves
 * behind counts for nothing, because the statement is added last.
 * @throws LostLease, Refusal `log_diverged`, the reason of `ending`
 */
export async function publishLiabilities(
  deps: PublishDeps,
  lease: Lease,
  ending?: AbortSignal,
): Promise<LiabilitiesRow | undefined> {
  const { liabilities, clock, random, signer, log } = deps
  await liabilities.dropDrafts(lease)
  const before = await liabilities.newest()
  const number = (before?.number ?? 0) + 1
  const seed = random.bytes(32)
  const asOf = clock.now()
  const leaves = await liabilities.readLeaves(seed)
  if (!leaves) return undefined
  const heads = await storeParts(deps, { lease, number, leaves, ending })
  const { hash, sum } = rootOver(heads.map(({ node }) => node))
  const statement: Liabilities = {
    issuer: deps.logs.current.origin,
    number: String(number),
    previous: (before?.digest ?? `0x${'00'.repeat(32)}`) as Liabilities['previous'],
    as_of: String(asOf),
    leaves: String(leaves.length / leafWidth),
    root: toHex(hash),
    total_nusd: String(sum),
    ...(await readTreasury(deps)),
  }
  await renew(deps)
  await liabilities.addParts(lease, [{ number, part: 0, bytes: packHeads(heads) }])
  const digest = liabilitiesDigest(statement)
  const signature = signer.sign(digest)
  const made = { number, statement, digest: toHex(digest), signature, asOf, seed }
  const row = await liabilities.add(lease, made)
  log.info('liabilities.published', { number, total_nusd: statement.total_nusd })
  return row
}

type DraftContext = {
  lease: Lease
  number: number
  leaves: Uint8Array
  ending: AbortSignal | undefined
}

/** Sorts, hashes and stores the leaves; other work goes on between two parts. */
async function storeParts(
  deps: PublishDeps,
  { lease, number, leaves, ending }: DraftContext,
): Promise<PartHead[]> {
  const heads: PartHead[] = []
  let batch: { number: number; part: number; bytes: Uint8Array }[] = []
  const parts = leaves.length / leafWidth / partLeaves
  for (const bytes of sortedParts(leaves)) {
    ending?.throwIfAborted()
    heads.push({ first: bytes.slice(0, 32), node: rootOver(leafNodes(bytes)) })
    batch.push({ number, part: heads.length, bytes })
    await new Promise((resume) => setImmediate(resume))
    if (batch.length < batchParts && heads.length < parts) continue
    await renew(deps)
    await deps.liabilities.addParts(lease, batch)
    batch = []
  }
  return heads
}

/** Keeps the lease, whose epoch stays while this process has it. */
async function renew({ liabilities }: PublishDeps): Promise<void> {
  await liabilities.takeLease()
}
