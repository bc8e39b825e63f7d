import type { Deps } from '../deps.ts'
import { Refusal } from '../kernel/refusal.ts'
import { toHex } from '../verify/hex.ts'
import { signCheckpoint } from './checkpoint.ts'
import { type LogSpan, nextOrigin } from './logs.ts'
import type { Reopenings } from './reopen-store.ts'
import { emptyFrontier, hashOf, peaksOf, rootOf } from './tree.ts'

/** A log's head as somebody else has it: its size and its root. */
export type Head = { size: number; root: Uint8Array }

export type Reopened = { origin: string; previous: LogSpan; head: Head }

type Needs = Pick<
  Deps,
  'logStore' | 'checkpoints' | 'signer' | 'clock' | 'logs' | 'log' | 'health' | 'ids'
> & { reopenings: Reopenings }

/**
 * Abandons the current log and opens the next one: the way out when the chain, or what was signed,
 * holds another history than the database. The first leaf of the new log names the old one and
 * its `head` on the chain, or else the newest that the database knows of. What is in the old log
 * keeps its proofs there. No server may run.
 */
export async function reopenLog(
  deps: Needs,
  { reason, head: given }: { reason: string; head?: Head | undefined },
): Promise<Reopened> {
  const previous = deps.logs.current
  await deps.logStore.change((_, { numberWaiting }) => numberWaiting())
  const empty = { size: 0, root: rootOf(emptyFrontier) }
  const head = given ?? (await deps.reopenings.knownHead(previous.origin)) ?? empty
  if (await isHistory(deps, head)) await signLast(deps)
  const origin = nextOrigin(deps.logs)
  const id = deps.ids.make('req')
  const now = deps.clock.now()
  await deps.reopenings.reopen({ id, now, previous, origin, head, reason, signer: deps.signer })
  return { origin, previous, head }
}

/** Whether the current log begins with the log of that head. */
async function isHistory({ logStore, logs }: Needs, { size, root }: Head): Promise<boolean> {
  if (size === 0) return true
  if (size > (await logStore.size())) return false
  const whole = { from: 0, to: size }
  const hashAt = await logStore.hashes(logs.current, peaksOf(whole))
  return toHex(hashOf(whole, hashAt)) === toHex(root)
}

/** The last receipts of the old log get a checkpoint too, unless that would be a second history. */
async function signLast(deps: Needs): Promise<void> {
  try {
    await signCheckpoint(deps)
  } catch (error) {
    if (!(error instanceof Refusal && error.type === 'log_diverged')) throw error
  }
}
