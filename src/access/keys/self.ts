/** The answer of `GET /v1/keys/self`, cached as JSON text. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { windowStart } from '../../ledger/window.ts'
import type { Caller } from './key.ts'
import { nextBlock, type Standing, toChainView, toKeyView, toPurseView } from './key-view.ts'
import type { KeySelfAnswer } from './shapes.ts'
import type { ShownKey } from './shown-key.ts'

type Reads = Pick<Deps, 'accounts' | 'clock' | 'keys' | 'readCache'>

type KeyReading = Standing & { shown: ShownKey }

const dayMs = 86_400_000

/**
 * The answer of `GET /v1/keys/self`, as JSON text: made once for a caller as long as nothing is
 * written and no time passes that it tells of.
 */
export function selfText(deps: Reads, caller: Caller): string | Promise<string> {
  const now = deps.clock.now()
  const made = deps.readCache(caller, async () => {
    const read = await readOnce(deps, caller, now)
    return { text: textOf(read, caller, now), ...timesOf(read, now) }
  })
  const textAt = ({ text, from, until }: CachedBody) =>
    from <= now && now < until ? text : readNow(deps, caller, now)
  return made instanceof Promise ? made.then(textAt) : textAt(made)
}

/** The account, the chain and its windows as they are now. */
export const standingOf = (deps: Reads, caller: Caller): Standing | Promise<Standing> =>
  readOnce(deps, caller, deps.clock.now())

/** Whether something is left of the balance and of every cap, so that a run could begin. */
export async function canPay(deps: Reads, caller: Caller): Promise<boolean> {
  const now = deps.clock.now()
  return nextBlock(await readOnce(deps, caller, now), now)?.type === 'key_expired'
}

type CachedBody = { text: string; from: Millis; until: Millis }

const readNow = async (deps: Reads, caller: Caller, now: Millis): Promise<string> =>
  textOf(await readOnce(deps, caller, now), caller, now)

/** From when until when all that depends on the time is as it was at `now`. */
function timesOf(read: KeyReading, now: Millis): { from: Millis; until: Millis } {
  const { chain, overlapUntil } = read.shown
  const block = nextBlock(read, now)
  // Such a block carries the time of the answer, so the text is true for one millisecond.
  if (block?.type !== 'key_expired') return { from: now, until: now + 1 }
  // All windows begin with a day.
  const ends = [windowStart('day', now) + dayMs, ...chain.map(({ expiresAt }) => expiresAt)]
  if (overlapUntil !== null) ends.push(overlapUntil)
  return { from: now, until: Math.min(...ends.filter((end) => end > now)) }
}

function textOf(read: KeyReading, { plan }: Caller, now: Millis): string {
  const { chain, shown, windows } = read
  const { overlapUntil } = shown
  const isEnding = overlapUntil !== null && overlapUntil > now
  return JSON.stringify({
    ...toKeyView({ ...shown, overlapUntil: isEnding ? overlapUntil : null }, now),
    account: toPurseView(read, plan, now),
    chain: toChainView(chain, windows, now),
    next_block: nextBlock(read, now),
  } satisfies KeySelfAnswer)
}

function readOnce(
  deps: Reads,
  { key, account }: Caller,
  now: Millis,
): KeyReading | Promise<KeyReading> {
  const name = `self ${key.id} ${windowStart('day', now)}`
  return deps.readCache(name, () => readSelf(deps, { id: account, keyId: key.id, now }))
}

async function readSelf(
  deps: Reads,
  { id, keyId, now }: { id: string; keyId: string; now: Millis },
): Promise<KeyReading> {
  const [account, shown] = await Promise.all([deps.accounts.find(id), deps.keys.show(keyId, now)])
  if (!account) throw new Error('a key without an account')
  const starts = shown.chain.map((key) => {
    return { keyId: key.id, start: windowStart(key.capWindow, now) }
  })
  return { account, shown, chain: shown.chain, windows: await deps.keys.windows(starts) }
}
