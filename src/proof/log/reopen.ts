/** Abandons the current log and opens the next, when the log contradicts what was signed. */
import type { Deps } from '../../app/deps-port.ts'
import { toHex } from '../../kernel/hex.ts'
import type { CheckpointRow, EndedRun } from '../../storage/db/schema/schema.ts'
import { structDigest } from '../../verify/eip712.ts'
import type { HeadFile } from './heads.ts'
import { type LogSpan, nextOrigin } from './logs.ts'
import type { HeadStore } from './store/head.ts'
import type { Reopenings } from './store/reopen.ts'
import { emptyFrontier, hashOf, peaksOf, rootOf } from './tree.ts'

/** A head of a log: its size and its root. */
export type Head = { size: number; root: Uint8Array }

/** A head and the time of its signature, if known. */
type KnownHead = Head & { timestamp?: number | undefined }

export type ReopenResult = {
  origin: string
  previous: LogSpan
  /** The head that the first leaf of the new log names. */
  head: Head
  /** The largest known head that matches the stored leaves: proofs of old receipts end there. */
  last: Head
  /** The largest known head that contradicts the stored leaves. */
  lost: Head | undefined
}

type Needs = Pick<Deps, 'logStore' | 'checkpoints' | 'signer' | 'clock' | 'logs' | 'ids'> & {
  reopenings: Reopenings
  headStore: HeadStore
  headFile: HeadFile | undefined
  /** Moves an ended run without a number to another issuer; undefined if that is impossible. */
  reissue: (run: EndedRun, issuer: string) => EndedRun | undefined
}

/**
 * The way out when the chain or a signed head holds another history than the database. The first
 * leaf of the new log names the old log and its `head` on the chain, or else the largest head that
 * matches the stored leaves. Receipts in the old log keep their proofs there. No server may run.
 *
 * Stored leaves beyond the last signed head need a head too, and no new head may contradict a
 * published one. A restored database holds a prefix of the log it forgot as long as nothing is
 * appended, and a node that knows a forgotten head appends nothing. So:
 * - If every known head matches the stored leaves, waiting receipts are numbered and all is signed.
 * - If a known head contradicts them and is larger than the stored log, the stored leaves are
 *   signed as they are: they begin every log that was signed. Waiting receipts get their numbers
 *   and issuer in the new log, because the next place may have held another leaf.
 * - If a contradicting head is not larger, or a later head was signed, a node that did not know it
 *   has appended. Nothing is signed, because that could contradict the head.
 */
export async function reopenLog(
  deps: Needs,
  { reason, head: given }: { reason: string; head?: Head | undefined },
): Promise<ReopenResult> {
  const previous = deps.logs.current
  const { truest, falses } = await judge(deps, given)
  const isWhole = falses.length === 0
  if (isWhole) await deps.logStore.change((_, { numberWaiting }) => numberWaiting())
  const isPrefix = isWhole || (await isStillPrefix(deps, truest, falses))
  const signed = isPrefix ? await signStored(deps) : undefined
  const last = signed ?? truest ?? { size: 0, root: rootOf(emptyFrontier) }
  const head = given ?? last
  const origin = nextOrigin(deps.logs)
  const id = deps.ids.make('req')
  const now = deps.clock.now()
  const wish = { id, now, previous, origin, head, reason, signer: deps.signer }
  await deps.reopenings.reopen({ ...wish, reissue: isWhole ? undefined : deps.reissue })
  return { origin, previous, head, last, lost: falses.at(-1) }
}

/** Sorts the known heads of the current log, by size, into matching and contradicting ones. */
async function judge(deps: Needs, given: Head | undefined) {
  const { origin } = deps.logs.current
  const { checkpoints, headFile, headStore, logStore, reopenings } = deps
  const inFile = (headFile?.heads ?? []).filter(({ issuer }) => issuer === origin)
  const stored = [
    await checkpoints.latest(origin),
    await reopenings.anchored(origin),
    await headStore.lacked(origin),
  ]
  const trues: KnownHead[] = []
  const falses: KnownHead[] = []
  for (const head of [...stored, ...inFile, given]) {
    if (!head || head.size === 0) continue
    const fault = await logStore.faultOf(head)
    const found = fault === undefined ? trues : falses
    found.push(head)
    // The database may have lost this signed head, and proofs need it there.
    if (fault === undefined && 'signature' in head) await checkpoints.add(head as CheckpointRow)
  }
  const bySize = (a: Head, b: Head) => a.size - b.size
  return { truest: trues.sort(bySize).at(-1), falses: falses.sort(bySize) }
}

/** Tolerated clock difference between two signed heads, in ms. */
const skewMs = 30_000

/** Whether the stored leaves begin the log of every contradicting head, as far as is known. */
async function isStillPrefix(
  { logStore }: Needs,
  truest: KnownHead | undefined,
  falses: readonly KnownHead[],
): Promise<boolean> {
  const size = await logStore.size()
  if (falses.some((head) => head.size <= size)) return false
  const times = falses.flatMap(({ timestamp }) => timestamp ?? [])
  return times.length > 0 && (truest?.timestamp ?? 0) <= Math.min(...times) + skewMs
}

/** Signs the whole stored log; undefined if it is empty. */
async function signStored(deps: Needs): Promise<CheckpointRow | undefined> {
  const { current } = deps.logs
  const size = await deps.logStore.size()
  if (size === 0) return undefined
  const whole = { from: 0, to: size }
  const root = hashOf(whole, await deps.logStore.hashes(current, peaksOf(whole)))
  const known = await deps.checkpoints.find(current.origin, size)
  if (known && toHex(known.root) === toHex(root)) return known
  const head = { issuer: current.origin, size, root, timestamp: deps.clock.now() }
  const signed = { ...head, signature: deps.signer.sign(structDigest('Checkpoint', head)) }
  await deps.headFile?.keep([signed])
  return deps.checkpoints.add(signed)
}
