/** Decides which balances are granted, so that no money of another gateway is booked twice. */
import { max, maxNusd, type Nusd, toUsd } from '../../kernel/money.ts'
import type { MovedGrant } from '../../ledger/store/grants.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { addMisfit, type Misfits } from './found.ts'
import { idOf, type MovePlan, type OwnerPlan } from './plan-moves.ts'

/** The keys and grants that imports made, by their ids, and balances by account. */
export type MoneyHere = {
  keys: ReadonlyMap<string, KeyRow>
  booked: ReadonlyMap<string, MovedGrant>
  balances: ReadonlyMap<string, Nusd>
}

export type GrantStep = { id: string; source: string; account: string; amount: Nusd }

export type MoneySteps = {
  /** By their ids. */
  grants: Map<string, GrantStep>
  /** The grant ids of owners who stay there with their keys. */
  staying: Set<string>
}

/**
 * Grants each balance once ever, with the owner's first key, and never more in all than the other
 * gateway holds: what an owner who came over has less there now may be what a new owner has.
 * @throws Error, before anything is written, for owners of another account or name
 */
export function decideGrants(plan: MovePlan, here: MoneyHere, misfits: Misfits): MoneySteps {
  assertNotTwice(plan, here)
  for (const owner of plan.owners) assertSamePlace(owner, here)
  const steps: MoneySteps = { grants: new Map(), staying: new Set() }
  const fresh = plan.owners.filter((owner) => isFresh(owner, here))
  const isNew = ({ parent }: OwnerPlan) => plan.newOwners.has(parent.foundId)
  const others = fresh.filter((owner) => !isNew(owner))
  let left = others.reduce((all, { balance }) => all + balance, 0n) - lostOf(plan, here)
  for (const owner of fresh) {
    const { grantId: id, source, account = '', balance: amount } = owner
    const what = `${source} (${toUsd(amount)} USD)`
    const why = owner.keys.some((key) => isElsewhere(owner, here.keys.get(key.id)))
      ? 'stays there: a key of it came over with another owner'
      : !isNew(owner) && amount > left
        ? `stays there: others have less there than they brought, which may be the same money`
        : undefined
    if (why === undefined) {
      if (!isNew(owner)) left -= amount
      steps.grants.set(id, { id, source, account, amount })
      continue
    }
    steps.staying.add(id)
    addMisfit(misfits, why, what)
  }
  for (const owner of plan.owners) noteDifference(owner, here, misfits)
  assertSums([...steps.grants.values()], here)
  return steps
}

/** Whether an owner with a balance could come over for the first time. */
const isFresh = ({ account, parent, grantId, balance }: OwnerPlan, here: MoneyHere): boolean =>
  account !== undefined &&
  balance > 0n &&
  parent.state.is === 'on' &&
  !here.booked.has(grantId) &&
  !here.keys.has(parent.id)

const isElsewhere = ({ parent }: OwnerPlan, row: KeyRow | undefined): boolean =>
  row !== undefined && !row.lineage.includes(parent.id)

/** How much less those who came over have there than they brought, also those who are not there. */
function lostOf({ as, owners }: MovePlan, { booked }: MoneyHere): Nusd {
  const balances = new Map(owners.map(({ grantId, balance }) => [grantId, balance]))
  return [...booked]
    .filter(([, { source }]) => source.startsWith(`${as}/`))
    .reduce((all, [id, { amount }]) => all + max(amount - (balances.get(id) ?? 0n), 0n), 0n)
}

/** A balance that changed there is the operator's to grant, or to take back. */
function noteDifference(owner: OwnerPlan, { booked, keys }: MoneyHere, misfits: Misfits): void {
  const { source, balance, grantId, parent } = owner
  const known = booked.get(grantId)
  if (!known && !keys.has(parent.id)) return
  const more = balance - (known?.amount ?? 0n)
  const difference = `${source} (${toUsd(more < 0n ? -more : more)} USD)`
  if (more > 0n) addMisfit(misfits, 'it has more there than was granted here once', difference)
  if (more < 0n) addMisfit(misfits, 'it has less there than was granted here once', difference)
}

/**
 * The users of one database can be read under two names of a gateway.
 * @throws Error for an owner or a key that came over under another name, and for a new name
 */
function assertNotTwice({ as, isSeparate, owners }: MovePlan, here: MoneyHere): void {
  if (isSeparate) return
  const how = 'Name that gateway as before, or add --separate where this is another one'
  const [kind] = as.split(':')
  const tags = [...here.keys.values()].map(({ tags: { moved_from: source = '' } }) => source)
  const sources = [...tags, ...[...here.booked.values()].map(({ source }) => source)]
  const names = new Set(sources.map((source) => source.slice(0, source.indexOf('/'))))
  const others = [...names].filter((name) => name !== as && name.split(':')[0] === kind)
  const isHere = (id: string, name: string): boolean =>
    here.keys.has(idOf('key', `${name}/${id}`)) || here.booked.has(idOf('req', `${name}/${id}`))
  for (const { parent, keys, source } of owners) {
    // A number names another key in each database; a hash names one alone.
    const hashes = keys.filter(({ foundId }) => /[0-9a-f]{40}$/.test(foundId))
    for (const { foundId } of [parent, ...hashes]) {
      const before = others.find((name) => isHere(foundId, name))
      if (before === undefined || isHere(foundId, as)) continue
      throw new Error(`${source} or a key of it came over as ${before} before. ${how}`)
    }
  }
  if (others.length > 0 && !names.has(as)) {
    throw new Error(`imports came over as ${others.join(', ')} before, and none as ${as}. ${how}`)
  }
}

/** @throws Error for an owner that went to another account before */
function assertSamePlace({ source, grantId, account, parent }: OwnerPlan, here: MoneyHere): void {
  if (account === undefined) return
  const places = [here.booked.get(grantId)?.account, here.keys.get(parent.id)?.accountId]
  const other = places.find((one) => one !== undefined && one !== account)
  if (other === undefined) return
  throw new Error(`${source} was moved to ${other} before; name that account for it`)
}

/** @throws Error when an account would have more than it can hold */
function assertSums(grants: readonly GrantStep[], { balances }: MoneyHere): void {
  for (const [account, some] of Map.groupBy(grants, (one) => one.account)) {
    const sum = some.reduce((all, { amount }) => all + amount, balances.get(account) ?? 0n)
    if (sum <= maxNusd) continue
    const largest = some.reduce((one, other) => (other.amount > one.amount ? other : one))
    const why = `${account} would have ${toUsd(sum)} USD, and an account holds at most 9,000,000`
    throw new Error(`${why}. The largest part is of ${largest.source}: use --map, or correct it`)
  }
}
