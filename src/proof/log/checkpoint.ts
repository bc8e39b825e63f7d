/** Signs the head of the log, and checks that the log still begins with every signed head. */
import type { Deps } from '../../app/deps-port.ts'
import { toHex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { CheckpointRow } from '../../storage/db/schema/schema.ts'
import { structDigest } from '../../verify/eip712.ts'
import type { Checkpoint } from '../../verify/proof.ts'
import type { LogSpan } from './logs.ts'
import { hashOf, peaksOf } from './tree.ts'

/** The dependencies of signing a head. */
export type SigningDeps = Pick<
  Deps,
  'logStore' | 'checkpoints' | 'signer' | 'clock' | 'logs' | 'log' | 'heads'
>

/**
 * Returns the latest checkpoint of a log; signs a new one if it does not cover leaf `index` yet.
 * @throws Refusal `log_diverged`
 */
export async function checkpointOver(
  deps: SigningDeps,
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
 * Signs the current log and returns its checkpoint; undefined while the log is empty. The log must
 * begin with every head signed before: a signer of two histories proves nothing. The head is saved
 * outside the database before it is returned, because the database may be restored to an old copy.
 * @throws Refusal `log_diverged`, `unavailable` until the database was compared
 */
export async function signCheckpoint(deps: SigningDeps): Promise<CheckpointRow | undefined> {
  const { current } = deps.logs
  await deps.heads.assertChecked()
  const heads = await signedHeads(deps)
  const last = heads.at(-1)
  const size = await deps.logStore.size()
  if (last && last.size > size) return diverged(deps, last, `it has only ${size} leaves`)
  if (size === 0) return undefined
  const sizes = [...heads.map((head) => head.size), size]
  const places = sizes.flatMap((to) => peaksOf({ from: 0, to }))
  const hashAt = await deps.logStore.hashes(current, places)
  const rootAt = (to: number) => hashOf({ from: 0, to }, hashAt)
  for (const head of heads) {
    const root = toHex(rootAt(head.size))
    if (root !== toHex(head.root)) return diverged(deps, head, `its root there is ${root}`)
  }
  // A concurrent signer may have stored this head first, with its own timestamp: that one counts.
  if (last?.size === size) {
    return (await deps.checkpoints.find(current.origin, size)) ?? deps.checkpoints.add(last)
  }
  const timestamp = deps.clock.now()
  const signed = { issuer: current.origin, size, root: rootAt(size), timestamp }
  const signature = deps.signer.sign(structDigest('Checkpoint', signed))
  const head = { ...signed, signature }
  await deps.heads.remember(head)
  const stands = await deps.checkpoints.add(head)
  const root = toHex(signed.root)
  return toHex(stands.root) === root ? stands : diverged(deps, stands, `its root there is ${root}`)
}

/** The newest head in the database and the newest one this node knows, by size. */
async function signedHeads({
  checkpoints,
  heads,
  logs,
}: Pick<Deps, 'checkpoints' | 'heads' | 'logs'>): Promise<CheckpointRow[]> {
  const stored = await checkpoints.latest(logs.current.origin)
  return [stored, heads.newest()]
    .filter((head) => head !== undefined)
    .sort((a, b) => a.size - b.size)
}

/** @throws Refusal `log_diverged` unless the current log begins with every signed head. */
export async function assertUnbroken(
  deps: Pick<Deps, 'logStore' | 'checkpoints' | 'logs' | 'log' | 'heads'>,
): Promise<void> {
  for (const head of await signedHeads(deps)) {
    const how = await deps.logStore.faultOf(head)
    if (how !== undefined) diverged(deps, head, how)
  }
}

/** Signs a checkpoint in the background, on the numbering node: one for a burst of receipts. */
export async function keepCheckpoint(deps: SigningDeps): Promise<void> {
  if (!deps.heads.isOpen()) return
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

function diverged({ log }: Pick<Deps, 'log'>, last: CheckpointRow, how: string): never {
  const signed = `the log was signed with the root ${toHex(last.root)} at ${last.size} leaves`
  log.error('log.diverged', new Error(`${signed}, but ${how}`))
  refuse('log_diverged', 'The log contradicts a checkpoint that was signed. Ask the operator.')
}
