import type { CheckpointRow } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import { refuse } from '../kernel/refusal.ts'
import { structDigest } from '../verify/eip712.ts'
import { toHex } from '../verify/hex.ts'
import type { Checkpoint } from '../verify/proof.ts'
import type { LogSpan } from './logs.ts'
import { hashOf, peaksOf } from './tree.ts'

type Needs = Pick<Deps, 'logStore' | 'checkpoints' | 'signer' | 'clock' | 'logs' | 'log' | 'health'>

/**
 * The latest checkpoint of a log; a new one is signed when leaf `index` is not under it yet.
 * @throws Refusal `log_diverged`
 */
export async function checkpointOver(
  deps: Needs,
  log: LogSpan,
  index: number,
): Promise<CheckpointRow> {
  const latest = await deps.checkpoints.latest(log.origin)
  if (latest && latest.size > index) return latest
  if (log !== deps.logs.current) {
    const message = 'The log of this receipt was abandoned before its head covered it.'
    refuse('log_diverged', `${message} The receipt and its signature stand.`)
  }
  const signed = await signCheckpoint(deps)
  if (!signed || signed.size <= index) throw new Error(`the log ends before its leaf ${index}`)
  return signed
}

/**
 * Signs the current log as it is now and gives its checkpoint; undefined while it is empty. It must
 * still begin with all that was signed before: a signer that signs two histories proves nothing.
 * @throws Refusal `log_diverged`
 */
export async function signCheckpoint(deps: Needs): Promise<CheckpointRow | undefined> {
  const { current } = deps.logs
  if (deps.health.log === 'diverged') refuse('log_diverged')
  const last = await deps.checkpoints.latest(current.origin)
  const size = await deps.logStore.size()
  if (last && last.size > size) return diverged(deps, last, `it has only ${size} leaves`)
  if (last?.size === size || size === 0) return last
  const sizes = last ? [last.size, size] : [size]
  const places = sizes.flatMap((to) => peaksOf({ from: 0, to }))
  const hashAt = await deps.logStore.hashes(current, places)
  const rootAt = (to: number) => hashOf({ from: 0, to }, hashAt)
  if (last && toHex(rootAt(last.size)) !== toHex(last.root)) {
    return diverged(deps, last, `its root there is ${toHex(rootAt(last.size))}`)
  }
  const timestamp = deps.clock.now()
  const signed = { issuer: current.origin, size, root: rootAt(size), timestamp }
  const signature = deps.signer.sign(structDigest('Checkpoint', signed))
  return deps.checkpoints.add({ ...signed, signature })
}

/**
 * The current log still begins with all that was signed of it.
 * @throws Refusal `log_diverged`
 */
export async function assertUnbroken(
  deps: Pick<Deps, 'logStore' | 'checkpoints' | 'logs' | 'log'>,
): Promise<void> {
  const { current } = deps.logs
  const last = await deps.checkpoints.latest(current.origin)
  if (!last) return
  const size = await deps.logStore.size()
  if (last.size > size) diverged(deps, last, `it has only ${size} leaves`)
  const whole = { from: 0, to: last.size }
  const root = toHex(hashOf(whole, await deps.logStore.hashes(current, peaksOf(whole))))
  if (root !== toHex(last.root)) diverged(deps, last, `its root there is ${root}`)
}

/** The background's checkpoint, by the node that numbers: a burst of receipts shares one. */
export async function keepCheckpoint(deps: Needs): Promise<void> {
  const latest = await deps.checkpoints.latest(deps.logs.current.origin)
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
