import { windowStart } from '../../src/ledger/window.ts'
import type { KeyRow } from '../../src/storage/db/schema/schema.ts'

/**
 * What the ledger must do, one command after the other. A purse is an account, or a key in a
 * window; `spent` and `held` are kept by purse.
 */
export type Model = {
  now: number
  balance: Map<string, bigint>
  spent: Map<string, bigint>
  held: Map<string, bigint>
  revoked: Set<string>
  open: Map<string, { hold: bigint; purses: string[] }>
}

export const newModel = (now: number): Model => ({
  now,
  balance: new Map(),
  spent: new Map(),
  held: new Map(),
  revoked: new Set(),
  open: new Map(),
})

const purseOf = (m: Model, key: KeyRow) => `${key.id}:${windowStart(key.capWindow, m.now)}`

/** The account first, then the key and its ancestors. */
export const purses = (m: Model, chain: KeyRow[], account: string): string[] => [
  account,
  ...chain.map((key) => purseOf(m, key)),
]

export function judgeHold(m: Model, chain: KeyRow[], account: string, amount: bigint): string {
  const dead = stateOf(m, chain)
  if (dead) return dead
  const used = (id: string) => of(m.spent, id) + of(m.held, id)
  if (chain.some((key) => used(purseOf(m, key)) + amount > key.capLimit)) return 'cap_exceeded'
  if (of(m.held, account) + amount > of(m.balance, account)) return 'insufficient_balance'
  for (const id of purses(m, chain, account)) bump(m.held, id, amount)
  return 'hold'
}

/** An end of a run that is not open is a bug of the caller, not a refusal. */
export function judgeEnd(m: Model, runId: string, cost: bigint): string {
  const open = m.open.get(runId)
  if (!open) return 'bug'
  m.open.delete(runId)
  const [account = '', ...windows] = open.purses
  for (const id of open.purses) bump(m.held, id, -open.hold)
  for (const id of windows) bump(m.spent, id, cost)
  bump(m.balance, account, -cost)
  return 'end'
}

export function judgeGrant(m: Model, account: string, amount: bigint): string {
  bump(m.balance, account, amount)
  return 'grant'
}

export function judgeMint(m: Model, chain: KeyRow[], cap: bigint): string {
  const dead = stateOf(m, chain)
  if (dead) return dead
  const parentCap = chain[0]?.capLimit ?? 0n
  return cap > parentCap || chain.length > 4 ? 'invalid_request' : 'mint'
}

function stateOf(m: Model, chain: KeyRow[]): string | undefined {
  if (chain.some((key) => m.revoked.has(key.id))) return 'key_revoked'
  return chain.some((key) => key.expiresAt <= m.now) ? 'key_expired' : undefined
}

const of = (sums: Map<string, bigint>, id: string): bigint => sums.get(id) ?? 0n

const bump = (sums: Map<string, bigint>, id: string, by: bigint): void =>
  void sums.set(id, of(sums, id) + by)
