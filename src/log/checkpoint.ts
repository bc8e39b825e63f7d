import type { CheckpointRow } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import { refuse } from '../kernel/refusal.ts'
import { structDigest } from '../verify/eip712.ts'
import { toHex } from '../verify/hex.ts'
import type { Checkpoint } from '../verify/proof.ts'
import { hashOf, peaksOf } from './tree.ts'

type Needs = Pick<Deps, 'logStore' | 'checkpoints' | 'signer' | 'clock' | 'settings' | 'log'>

/**
 * The latest checkpoint; a new one is signed when leaf `index` is not under it yet.
 * @throws Refusal `log_diverged`
 */
export async function checkpointOver(deps: Needs, index: number): Promise<CheckpointRow> {
  const latest = await deps.checkpoints.latest()
  if (latest && latest.size > index) return latest
  const signed = await signCheckpoint(deps)
  if (!signed || signed.size <= index) throw new Error(`the log ends before its leaf ${index}`)
  return signed
}

/**
 * Signs the log as it is now and gives its checkpoint; undefined while it is empty. The log must
 * still begin with all that was signed before: a signer that signs two histories proves nothing.
 * @throws Refusal `log_diverged`
 */
export async function signCheckpoint(deps: Needs): Promise<CheckpointRow | undefined> {
  const last = await deps.checkpoints.latest()
  const size = await deps.logStore.size()
  if (last && last.size > size) return diverged(deps, last, `it has only ${size} leaves`)
  if (last?.size === size || size === 0) return last
  const sizes = last ? [last.size, size] : [size]
  const places = sizes.flatMap((to) => peaksOf({ from: 0, to }))
  const hashAt = await deps.logStore.hashes(places)
  const rootAt = (to: number) => hashOf({ from: 0, to }, hashAt)
  if (last && toHex(rootAt(last.size)) !== toHex(last.root)) {
    return diverged(deps, last, `its root there is ${toHex(rootAt(last.size))}`)
  }
  const timestamp = deps.clock.now()
  const signed = { issuer: deps.settings.issuer, size, root: rootAt(size), timestamp }
  const signature = deps.signer.sign(structDigest('Checkpoint', signed))
  return deps.checkpoints.add({ ...signed, signature })
}

/** The background's checkpoint, by the node that numbers: a burst of receipts shares one. */
export async function keepCheckpoint(deps: Needs): Promise<void> {
  const latest = await deps.checkpoints.latest()
  if (latest?.size === (await deps.logStore.size())) return
  if (await deps.logStore.takeLease()) await signCheckpoint(deps)
}

export const toCheckpointView = (row: CheckpointRow): Checkpoint => ({
  issuer: row.issuer,
  size: String(row.size),
  root: toHex(row.root),
  timestamp: String(row.timestamp),
  signature: toHex(row.signature),
})

function diverged({ log }: Pick<Needs, 'log'>, last: CheckpointRow, how: string): never {
  const signed = `the log was signed with the root ${toHex(last.root)} at ${last.size} leaves`
  log.error('log.diverged', new Error(`${signed}, but ${how}`))
  refuse('log_diverged', 'The log disagrees with what was signed of it; ask the operator.')
}
