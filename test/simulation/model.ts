import { min } from '../../src/kernel/money.ts'
import { type CapWindow, windowStart } from '../../src/ledger/window.ts'
import type { Retention } from '../../src/storage/texts/retention.ts'
import type { ModelDeposit } from './model-deposits.ts'
import { keepOfRun, type ModelBackground, type ModelText, type RunEnd } from './model-kept.ts'
import { type ModelPlan, planAt } from './model-plans.ts'
import { costOf, fitted, listed, type Quoted } from './model-prices.ts'
import { type ModelQuote, returnUse } from './model-quotes.ts'
import type { ModelSecret } from './model-secrets.ts'
import { type ModelSelling, newSelling } from './model-selling.ts'

/**
 * What the service must do with keys, runs and money, one command after the other: no database, no
 * memory beside it, no concurrency, no time but what it is told. Each judge says what a command
 * comes to (`ok`, the type of a refusal, or `bug` for an error) and changes the model if it is `ok`.
 */
export type Model = {
  accounts: Map<string, ModelAccount>
  keys: Map<string, ModelKey>
  /** By key and start of the window. */
  purses: Map<string, Purse>
  open: Map<string, ModelRun>
  /** What each run cost that ended. */
  ended: Map<string, bigint>
  /** By transaction. */
  deposits: Map<string, ModelDeposit>
  /** By the Idempotency-Key of a call. */
  calls: Map<string, ModelCall>
  /** Runs in the background, and the texts that are kept, by run. */
  background: Map<string, ModelBackground>
  texts: Map<string, ModelText>
  /** Account and hold of each run that was refused for want of money. */
  refused: Set<string>
  quotes: Map<string, ModelQuote>
} & ModelSelling

export type ModelAccount = {
  balance: bigint
  held: bigint
  suspended: boolean
  retention: Retention
} & ModelPlan
export type ModelKey = {
  id: string
  account: string
  /** The key, its parent, … up to the root. */
  chain: readonly string[]
  cap: bigint
  window: CapWindow
  most: bigint | null
  createdAt: number
  expiresAt: number
  paused: boolean
  revoked: boolean
  /** The newest last. */
  secrets: ModelSecret[]
}
export type Purse = { spent: bigint; held: bigint }
export type ModelRun = {
  id: string
  key: string
  account: string
  hold: bigint
  discountBps: bigint
  quoted: Quoted
  quote: string | undefined
  windows: readonly string[]
  node: string
  /** Whether its account wanted its texts kept when it began. */
  wanted: boolean
  createdAt: number
  /** Whether it has a row: what is in the memory of its process alone dies with that. */
  stored: boolean
}
/** `run` is the one it began; its answer is there from the end of that. */
export type ModelCall = {
  until: number
  run: string
  body: string
  answer: string | undefined
  /** Whether it was answered when it began. */
  early: boolean
}

export const newModel = (): Model => ({
  accounts: new Map(),
  keys: new Map(),
  purses: new Map(),
  open: new Map(),
  ended: new Map(),
  deposits: new Map(),
  calls: new Map(),
  background: new Map(),
  texts: new Map(),
  refused: new Set(),
  ...newSelling(),
  quotes: new Map(),
})

export const dayMs = 86_400_000

export function must<T>(found: T | undefined): T {
  if (found === undefined) throw new Error('the model lacks what it is asked for')
  return found
}

export const accountIn = (m: Model, id: string): ModelAccount => must(m.accounts.get(id))
export const chainIn = (m: Model, id: string): ModelKey[] =>
  must(m.keys.get(id)).chain.map((each) => must(m.keys.get(each)))

/** What a key, with all above it, is refused for. */
export function stateOf(chain: ModelKey[], now: number): string | undefined {
  if (chain.some((key) => key.revoked)) return 'key_revoked'
  if (chain.some((key) => key.expiresAt <= now)) return 'key_expired'
  return chain.some((key) => key.paused) ? 'key_paused' : undefined
}

export type MintWish = Pick<ModelKey, 'account' | 'cap' | 'window' | 'most'> & {
  parent: string | undefined
  expiresAt: number | undefined
  secret: string | undefined
}

export function judgeMint(m: Model, wish: MintWish, id: string, now: number): string {
  const above = wish.parent === undefined ? [] : chainIn(m, wish.parent)
  const dead = stateOf(above, now)
  if (dead) return dead
  const [parent] = above
  const latest = Math.min(now + 366 * dayMs, parent?.expiresAt ?? Number.POSITIVE_INFINITY)
  const expiresAt = wish.expiresAt ?? Math.min(now + 90 * dayMs, latest)
  const isWithin = expiresAt > now && expiresAt <= latest && wish.cap <= (parent?.cap ?? wish.cap)
  if (above.length > 4 || !isWithin) return 'invalid_request'
  const own = [...m.keys.values()].filter(({ account }) => account === wish.account)
  const active = own.filter((key) => !key.revoked && key.expiresAt > now).length
  if (active >= planAt(accountIn(m, wish.account), now).maxKeys) return 'conflict'
  const chain = [id, ...above.map((key) => key.id)]
  const secrets = [{ secret: wish.secret, until: null }]
  const states = { createdAt: now, expiresAt, paused: false, revoked: false, secrets }
  m.keys.set(id, { ...wish, id, chain, ...states })
  return 'ok'
}

export type KeyChange = { cap?: bigint; expiresAt?: number; most?: bigint | null }

export function judgeChange(m: Model, id: string, change: KeyChange, now: number): string {
  const [key, parent] = chainIn(m, id)
  if (!key || chainIn(m, id).some(({ revoked }) => revoked)) return 'conflict'
  const { cap = key.cap, expiresAt = key.expiresAt, most = key.most } = change
  if (change.cap !== undefined && cap > (parent?.cap ?? cap)) return 'invalid_request'
  const from = Math.max(now, key.createdAt)
  const latest = Math.min(from + 366 * dayMs, parent?.expiresAt ?? Number.POSITIVE_INFINITY)
  const isWithin = expiresAt > from && expiresAt <= latest
  if (change.expiresAt !== undefined && !isWithin) return 'invalid_request'
  const { spent, held } = purseOf(m, key, now)
  if (cap < key.cap && cap < spent + held) return 'conflict'
  Object.assign(key, { cap, expiresAt, most })
  return 'ok'
}

export function judgePause(m: Model, id: string, paused: boolean): string {
  const chain = chainIn(m, id)
  if (chain.some(({ revoked }) => revoked)) return 'conflict'
  Object.assign(must(chain[0]), { paused })
  return 'ok'
}

export function judgeRevoke(m: Model, id: string): string {
  for (const key of m.keys.values()) if (key.chain.includes(id)) key.revoked = true
  return 'ok'
}

/** `input` tokens are read at most, and `output` said; `fit` says as many as can be paid. */
export type RunWish = {
  key: string
  input: number
  output: number
  fit: boolean
  node: string
  /** Whether its hold is a COMMIT. */
  stored: boolean
  quote?: string | undefined
}

export function judgeBegin(m: Model, wish: RunWish, id: string, now: number): string {
  const chain = chainIn(m, wish.key)
  const dead = stateOf(chain, now)
  if (dead) return dead
  const accountId = must(chain[0]).account
  const account = accountIn(m, accountId)
  if (account.suspended) return 'account_suspended'
  const { discountBps } = planAt(account, now)
  const rooms = chain.map((key) => key.cap - usedOf(purseOf(m, key, now)))
  const least = [...rooms, account.balance - account.held].reduce(min)
  const mosts = chain.flatMap(({ most }) => most ?? [])
  const room = mosts.reduce(min, least)
  const output = wish.fit ? fitted(wish, room, discountBps) : wish.output
  const promised = wish.quote === undefined ? undefined : must(m.quotes.get(wish.quote))
  if (promised && promised.used >= promised.uses) return 'gone'
  const quoted = promised ?? listed
  const hold = costOf(wish.input, output, discountBps, quoted)
  // Of the account a key without a parent is told what is held, any other its own part alone.
  const own = purseOf(m, must(chain[0]), now).held
  if (mosts.some((most) => hold > most)) return 'cap_exceeded 0'
  if (rooms.some((one) => hold > one)) return `cap_exceeded ${own}`
  if (hold > account.balance - account.held) {
    m.refused.add(`${accountId} ${hold}`)
    return `insufficient_balance ${chain.length === 1 ? account.held : own}`
  }
  if (promised) promised.used++
  account.held += hold
  const windows = chain.map((key) => windowIdOf(key, now))
  for (const window of windows) purseAt(m, window).held += hold
  const { key, node, stored, quote } = wish
  const wanted = account.retention !== 'none'
  const about = { key, account: accountId, discountBps, node, wanted, createdAt: now }
  m.open.set(id, { id, hold, windows, stored, quote, quoted, ...about })
  return 'ok'
}

/** A run that has ended cannot end again: that is an error, and moves nothing. */
export function judgeSettle(m: Model, id: string, cost: bigint, end: RunEnd): string {
  const run = m.open.get(id)
  if (!run) return 'bug'
  if (cost > run.hold) throw new Error(`the model charges more than run ${id} holds`)
  m.open.delete(id)
  m.ended.set(id, cost)
  m.refundable.set(id, { account: run.account, came: cost, refunded: 0n })
  const account = accountIn(m, run.account)
  account.held -= run.hold
  account.balance -= cost
  for (const window of run.windows) {
    const purse = purseAt(m, window)
    purse.held -= run.hold
    purse.spent += cost
  }
  keepOfRun(m, run, end)
  // What failed and charged nothing may be tried again with the same key.
  if (cost === 0n) freeCalls(m, id)
  if (cost === 0n) returnUse(m, run)
  return 'ok'
}

/** Runs that are this old get a row, in ms. */
const youngMs = 500

/** The job that gives open runs their rows. */
export function judgeStore(m: Model, node: string, now: number): string {
  for (const run of m.open.values()) {
    if (run.node === node && run.createdAt <= now - youngMs) run.stored = true
  }
  return 'ok'
}

/** A process died: what only it knew of is gone, and was never charged. */
export function judgeDeath(m: Model, node: string): void {
  for (const run of unstored(m)) {
    if (run.node !== node) continue
    m.open.delete(run.id)
    accountIn(m, run.account).held -= run.hold
    for (const window of run.windows) purseAt(m, window).held -= run.hold
    freeCalls(m, run.id)
  }
}

/** The open runs that no row tells of. */
export const unstored = (m: Model): ModelRun[] => [...m.open.values()].filter((run) => !run.stored)

function freeCalls(m: Model, id: string): void {
  for (const [scope, { run }] of m.calls) if (run === id) m.calls.delete(scope)
}

/** What a process left open, or could not store the end of, costs nothing. */
export function judgeAbandoned(
  m: Model,
  id: string,
  now: number,
  status: RunEnd['status'] = 'interrupted',
): string {
  return judgeSettle(m, id, 0n, { now, status, letters: null, byItself: false })
}

/** The money that a key is told: of its account, or what it can spend and holds itself. */
export function toldTo(m: Model, id: string, now: number): string {
  const chain = chainIn(m, id)
  const key = must(chain[0])
  const { balance, held } = accountIn(m, key.account)
  if (chain.length === 1) return `${balance} ${held}`
  const rooms = chain.map((one) => one.cap - usedOf(purseOf(m, one, now)))
  const left = [balance - held, ...rooms].reduce(min)
  const own = purseOf(m, key, now).held
  return `${(left > 0n ? left : 0n) + own} ${own}`
}

export const windowIdOf = ({ id, window }: ModelKey, now: number): string =>
  `${id}:${windowStart(window, now)}`
const purseOf = (m: Model, key: ModelKey, now: number): Purse => purseAt(m, windowIdOf(key, now))
const usedOf = ({ spent, held }: Purse): bigint => spent + held

function purseAt(m: Model, window: string): Purse {
  const known = m.purses.get(window) ?? { spent: 0n, held: 0n }
  m.purses.set(window, known)
  return known
}
