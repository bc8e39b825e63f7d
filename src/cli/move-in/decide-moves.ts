/** Compares a plan with what is here: each step that a run takes, or that a dry run tells. */
import type { KeyChange } from '../../access/keys/change.ts'
import { max, maxNusd, min, type Nusd, toUsd } from '../../kernel/money.ts'
import type { BookedGrant } from '../../ledger/grant-rows.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { addMisfit, type Misfits } from './found.ts'
import { commonOf, type KeyWish, type MovePlan, type OwnerPlan } from './plan-moves.ts'

/** The things here that an earlier run or people have made. */
export type Present = {
  keys: ReadonlyMap<string, KeyRow>
  /** By grant. */
  booked: ReadonlyMap<string, BookedGrant>
  /** The first caps of keys. */
  caps: ReadonlyMap<string, Nusd>
  /** By account. */
  balances: ReadonlyMap<string, Nusd>
}

export type GrantStep = { id: string; source: string; account: string; amount: Nusd }
export type StopStep = { does: 'pause' | 'revoke'; id: string; name: string; why: string }
export type ChangeStep = { id: string; name: string; change: KeyChange }

export type Steps = {
  grants: GrantStep[]
  creates: KeyWish[]
  changes: ChangeStep[]
  stops: StopStep[]
  unchanged: number
}

/** @throws Error, before anything is written, for what cannot be done as a whole */
export function decideMoves(plan: MovePlan, present: Present, misfits: Misfits): Steps {
  const steps: Steps = { grants: [], creates: [], changes: [], stops: [], unchanged: 0 }
  for (const owner of plan.owners) decideOwner(steps, owner, present, misfits)
  for (const id of plan.gone) {
    const row = present.keys.get(id)
    if (!row || row.revokedAt !== null) continue
    steps.stops.push({ does: 'revoke', id, name: row.name, why: 'it is deleted there' })
  }
  assertSums(steps.grants, present)
  return steps
}

function decideOwner(steps: Steps, owner: OwnerPlan, present: Present, misfits: Misfits): void {
  const { parent, source } = owner
  const here = present.keys.get(parent.id)
  assertSamePlace(owner, present)
  if (here) decidePresent(steps, parent, here, present, misfits)
  else if (parent.state.is !== 'on') {
    const what = `${source} (${toUsd(owner.balance)} USD)`
    addMisfit(misfits, `its balance and keys stay there: ${parent.state.why}`, what)
  } else if (owner.balance > 0n || owner.keys.some(({ state }) => state.is === 'on')) {
    steps.creates.push(parent)
  }
  if (parent.state.is === 'on') decideGrant(steps, owner, present, misfits)
  for (const key of owner.keys) {
    const row = present.keys.get(key.id)
    if (row) decidePresent(steps, key, row, present, misfits)
    else if (key.state.is !== 'on') addMisfit(misfits, `a key: ${key.state.why}`, key.name)
    else if (here || parent.state.is === 'on') {
      const wish = below(key, here ?? parent)
      const isLate = owner.isOfStrangers && present.booked.has(owner.grantId)
      steps.creates.push(isLate ? { ...wish, capLimit: 1n } : wish)
      // The money of the others is granted, and its own is not.
      if (isLate) addMisfit(misfits, 'a key without an owner came later: grant its money', key.name)
    }
  }
}

type Above = Pick<KeyRow, 'capLimit' | 'expiresAt'> & { models: readonly string[] }

/** A new key has no more than the one above it has here now. */
const below = (key: KeyWish, above: Above): KeyWish => ({
  ...key,
  capLimit: min(key.capLimit, above.capLimit),
  expiresAt: Math.min(key.expiresAt, above.expiresAt),
  models: key.models.length === 0 ? [] : commonOf(key.models, above.models),
})

/** @throws Error for an owner that went to another account before */
function assertSamePlace({ source, grantId, account, parent, keys }: OwnerPlan, present: Present) {
  const rows = [parent, ...keys].map(({ id }) => present.keys.get(id)?.accountId)
  const places = [present.booked.get(grantId)?.account, ...rows]
  const other = places.find((one) => one !== undefined && one !== account)
  if (other === undefined) return
  throw new Error(`${source} was moved to ${other} before; name that account for it`)
}

/** A balance is granted once ever. */
function decideGrant(
  { grants }: Steps,
  { source, grantId: id, account, balance }: OwnerPlan,
  { booked }: Present,
  misfits: Misfits,
): void {
  const known = booked.get(id)
  if (!known) {
    if (balance > 0n) grants.push({ id, source, account, amount: balance })
    return
  }
  const more = balance - known.amount
  const difference = `${source} (${toUsd(more < 0n ? -more : more)} USD)`
  if (more > 0n) addMisfit(misfits, 'it has more there than was granted here once', difference)
  if (more < 0n) addMisfit(misfits, 'it has less there than was granted here once', difference)
}

function decidePresent(
  steps: Steps,
  wish: KeyWish,
  row: KeyRow,
  { caps }: Present,
  misfits: Misfits,
): void {
  const { name } = row
  if (row.revokedAt !== null) {
    steps.unchanged += 1
    return
  }
  if (wish.state.is !== 'on') {
    const does = wish.state.is === 'gone' ? 'revoke' : 'pause'
    if (does === 'revoke' || row.pausedAt === null) {
      steps.stops.push({ does, id: row.id, name, why: wish.state.why })
    } else steps.unchanged += 1
    return
  }
  if (row.pausedAt !== null) addMisfit(misfits, 'on there, and paused here: it stays so', name)
  const change = changeOf(wish, row, caps.get(row.id) ?? row.capLimit, misfits)
  if (Object.keys(change).length === 0) steps.unchanged += 1
  else steps.changes.push({ id: row.id, name, change })
}

/** Only tightens: what a person made lower stays so, and what one raised is that person's. */
function changeOf(wish: KeyWish, row: KeyRow, first: Nusd, misfits: Misfits): KeyChange {
  const change: KeyChange = {}
  const note = (why: string): void => addMisfit(misfits, why, row.name)
  if (wish.capWindow !== row.capWindow) {
    note('its cap is renewed otherwise there: revoke it here, or set its cap by hand')
  } else if (wish.capLimit < row.capLimit) {
    if (row.capLimit > first) note('its cap was raised here: it stays so')
    else change.capLimit = wish.capLimit
  }
  if (wish.hasExpiry && wish.expiresAt < row.expiresAt) change.expiresAt = wish.expiresAt
  if (wish.models.length > 0) {
    const models = commonOf(wish.models, row.models)
    if (models.length === 0) note('it allows other models there: none of both')
    else if (isOther(models, row.models)) change.models = models
  }
  if (wish.ipCidrs.length > 0 && isOther(wish.ipCidrs, row.ipCidrs)) {
    if (row.ipCidrs.length === 0) change.ipCidrs = [...wish.ipCidrs]
    else note('its networks are others there, and stay as they are')
  }
  for (const name of ['rpm', 'concurrency'] as const) {
    const [there, here] = [wish[name], row[name]]
    if (there !== null && (here === null || there < here)) change[name] = there
  }
  return change
}

const isOther = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join('\n') !== [...b].sort().join('\n')

/** @throws Error when an account would have more than it can hold */
function assertSums(grants: readonly GrantStep[], { balances }: Present): void {
  for (const [account, some] of Map.groupBy(grants, (one) => one.account)) {
    const sum = some.reduce((all, { amount }) => all + amount, balances.get(account) ?? 0n)
    if (sum <= maxNusd) continue
    const largest = some.reduce((one, other) => (other.amount > one.amount ? other : one))
    const why = `${account} would have ${toUsd(sum)} USD, and an account holds at most 9,000,000`
    throw new Error(`${why}. The largest part is of ${largest.source}: use --map, or correct it`)
  }
}

/** The lowest cap that a key can have, for one whose window has taken more. */
export const raisedTo = (cap: Nusd, smallest: unknown): Nusd =>
  typeof smallest === 'number' ? max(cap, BigInt(smallest)) : cap
