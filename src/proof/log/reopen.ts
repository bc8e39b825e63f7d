import type { Deps } from '../../app/deps-port.ts'
import { toHex } from '../../kernel/hex.ts'
import type { CheckpointRow, RunRow } from '../../storage/db/schema.ts'
import { structDigest } from '../../verify/eip712.ts'
import type { HeadFile } from './heads.ts'
import { type LogSpan, nextOrigin } from './logs.ts'
import type { HeadStore } from './store/head.ts'
import type { Reopenings } from './store/reopen.ts'
import { emptyFrontier, hashOf, peaksOf, rootOf } from './tree.ts'

/** A log's head as somebody else has it: its size and its root. */
export type Head = { size: number; root: Uint8Array }

/** A head with the time it was signed at; undefined where nobody says. */
type Known = Head & { timestamp?: number | undefined }

export type Reopened = {
  origin: string
  previous: LogSpan
  /** What the first leaf of the new log names. */
  head: Head
  /** The last head that is true of the stored leaves: proofs of old receipts end there. */
  last: Head
  /** The largest head that is known of the old log and not true of the stored leaves. */
  lost: Head | undefined
}

type Needs = Pick<Deps, 'logStore' | 'checkpoints' | 'signer' | 'clock' | 'logs' | 'ids'> & {
  reopenings: Reopenings
  headStore: HeadStore
  headFile: HeadFile | undefined
  /** An ended run that has no number yet, of another issuer; undefined where that cannot be. */
  reissue: (run: RunRow, issuer: string) => RunRow | undefined
}

/**
 * Abandons the current log and opens the next one: the way out when the chain, or what was signed,
 * holds another history than the database. The first leaf of the new log names the old one and
 * its `head` on the chain, or else the last that is true of the stored leaves. What is in the old
 * log keeps its proofs there. No server may run.
 *
 * Stored leaves beyond the last signed head need a head too, and no head may contradict one that
 * somebody has. A database that went back holds a prefix of the log that it forgot, for as long as
 * nothing is appended; and a node that knows a forgotten head appends nothing. So:
 * - Where every known head is true of the stored leaves, what waits is numbered and all is signed.
 * - Where a known head is false and larger than what is stored, the stored leaves are signed as
 *   they are: they begin every log that was signed. What waits for a number gets one in the new
 *   log, with its issuer, because another leaf may have had the next place.
 * - Where a false head is not larger, or something was signed later than it, a node that did not
 *   know it appended. Nothing is signed: it could contradict that head.
 */
export async function reopenLog(
  deps: Needs,
  { reason, head: given }: { reason: string; head?: Head | undefined },
): Promise<Reopened> {
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

/** Every head that is known of the current log, true of the stored leaves or not, by size. */
async function judge(deps: Needs, given: Head | undefined) {
  const { origin } = deps.logs.current
  const { checkpoints, headFile, headStore, logStore, reopenings } = deps
  const inFile = (headFile?.heads ?? []).filter(({ issuer }) => issuer === origin)
  const stored = [
    await checkpoints.latest(origin),
    await reopenings.anchored(origin),
    await headStore.lacked(origin),
  ]
  const trues: Known[] = []
  const falses: Known[] = []
  for (const head of [...stored, ...inFile, given]) {
    if (!head || head.size === 0) continue
    const fault = await logStore.faultOf(head)
    const found = fault === undefined ? trues : falses
    found.push(head)
    // The database may have forgotten that it was signed, and proofs need it there.
    if (fault === undefined && 'signature' in head) await checkpoints.add(head as CheckpointRow)
  }
  const bySize = (a: Head, b: Head) => a.size - b.size
  return { truest: trues.sort(bySize).at(-1), falses: falses.sort(bySize) }
}

/** How much later a clock may make a head that was signed before another, in ms. */
const skewMs = 30_000

/** Whether the stored leaves begin the log of every false head, as far as anybody can tell. */
async function isStillPrefix(
  { logStore }: Needs,
  truest: Known | undefined,
  falses: readonly Known[],
): Promise<boolean> {
  const size = await logStore.size()
  if (falses.some((head) => head.size <= size)) return false
  const times = falses.flatMap(({ timestamp }) => timestamp ?? [])
  return times.length > 0 && (truest?.timestamp ?? 0) <= Math.min(...times) + skewMs
}

/** Signs all that is stored of the log; undefined where that is nothing. */
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
