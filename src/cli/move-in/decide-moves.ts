/** Compares a plan with what is here: each step that a run takes, or that a dry run tells. */
import type { KeyChange } from '../../access/keys/change.ts'
import { max, maxNusd, min, type Nusd, toUsd } from '../../kernel/money.ts'
import type { BookedGrant } from '../../ledger/grant-rows.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { addMisfit, type FoundState, type Misfits } from './found.ts'
import { commonOf, type KeyWish, type MovePlan, type OwnerPlan } from './plan-moves.ts'

/** The things here that an earlier run or people have made. */
export type Present = {
  keys: ReadonlyMap<string, KeyRow>
  /** By grant. */
  booked: ReadonlyMap<string, BookedGrant>
  /** By key, the members that people made wider than they were. */
  widened: ReadonlyMap<string, ReadonlySet<string>>
  /** The owners of all grants that imports booked, with the name of their gateway in front. */
  sources: readonly string[]
  /** All keys that imports made. */
  moved: readonly KeyRow[]
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
  assertNotTwice(plan, present)
  for (const owner of plan.owners) decideOwner(steps, owner, present, misfits)
  for (const { id, state } of plan.stops) {
    const row = present.keys.get(id)
    if (row && row.revokedAt === null) decideStop(steps, row, state)
  }
  noteVanished(plan, present, misfits)
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
    if (row) decideKey(steps, { key, row, parent }, present, misfits)
    else if (key.state.is !== 'on') addMisfit(misfits, `a key: ${key.state.why}`, key.name)
    else if (here || parent.state.is === 'on') {
      const wish = below(key, here ?? parent)
      if (!wish) {
        addMisfit(misfits, 'a key: it allows no model that its owner may use here', key.name)
        continue
      }
      const isLate = owner.isOfStrangers && present.booked.has(owner.grantId)
      steps.creates.push(isLate ? { ...wish, capLimit: 1n } : wish)
      // The money of the others is granted, and its own is not.
      if (isLate) addMisfit(misfits, 'a key without an owner came later: grant its money', key.name)
    }
  }
}

type Above = Pick<KeyRow, 'capLimit' | 'expiresAt'> & { models: readonly string[] }

/** A new key has no more than the one above it has here now; undefined where no model is left. */
function below(key: KeyWish, above: Above): KeyWish | undefined {
  const models = key.models.length === 0 ? [] : commonOf(key.models, above.models)
  if (models.length === 0 && key.models.length > 0) return undefined
  const capLimit = min(key.capLimit, above.capLimit)
  return { ...key, models, capLimit, expiresAt: Math.min(key.expiresAt, above.expiresAt) }
}

/**
 * The users of one database can be read under two names of a gateway.
 * @throws Error for an owner that came over under another name, and not under this one
 */
function assertNotTwice({ as, isSeparate, owners }: MovePlan, present: Present): void {
  if (isSeparate) return
  const [kind] = as.split(':')
  const nameOf = (source: string): string => source.slice(0, source.indexOf('/'))
  // An owner without money has a key and no grant.
  const made = present.moved.filter(({ parentId }) => parentId === null)
  const tags = made.flatMap(({ tags: { moved_from: source } }) => source ?? [])
  const others = [...present.sources, ...tags].filter((one) => nameOf(one) !== as)
  const own = (source: string): string => source.slice(source.indexOf('/') + 1)
  const known = new Map(
    others.filter((one) => nameOf(one).split(':')[0] === kind).map((one) => [own(one), one]),
  )
  for (const { source, grantId, parent } of owners) {
    const before = known.get(own(source))
    if (before === undefined || present.booked.has(grantId) || present.keys.has(parent.id)) continue
    const how = 'Name that gateway as before, or add --separate where this is another one'
    throw new Error(`${own(source)} came over as ${before} before. ${how}`)
  }
}

/** Keys that an import made here and that are not there: only a person knows why. */
function noteVanished({ as, known }: MovePlan, { moved }: Present, misfits: Misfits): void {
  if (known.size === 0) return
  for (const { id, name, revokedAt, tags } of moved) {
    if (known.has(id) || revokedAt !== null || !tags['moved_from']?.startsWith(`${as}/`)) continue
    addMisfit(misfits, 'not there any more, and stays here: revoke it if it was deleted', name)
  }
}

/** @throws Error for an owner that went to another account before */
function assertSamePlace({ source, grantId, account, parent }: OwnerPlan, present: Present): void {
  const places = [present.booked.get(grantId)?.account, present.keys.get(parent.id)?.accountId]
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

type KeyHere = { key: KeyWish; row: KeyRow; parent: KeyWish }

/** A key whose owner changed there keeps its place, and the state of its new owner stops it. */
function decideKey(
  steps: Steps,
  { key, row, parent }: KeyHere,
  present: Present,
  misfits: Misfits,
): void {
  const isMoved = row.accountId !== key.account || row.parentId !== key.parentId
  if (isMoved && row.revokedAt === null) {
    addMisfit(misfits, 'belongs to another there: revoke it here, or leave it', row.name)
  }
  const state = isMoved && key.state.is === 'on' ? parent.state : key.state
  decidePresent(steps, { ...key, state }, row, present, misfits)
}

function decidePresent(
  steps: Steps,
  wish: KeyWish,
  row: KeyRow,
  { widened }: Present,
  misfits: Misfits,
): void {
  const { name } = row
  if (row.revokedAt !== null) {
    steps.unchanged += 1
    return
  }
  if (wish.state.is !== 'on') {
    decideStop(steps, row, wish.state)
    return
  }
  if (row.pausedAt !== null) addMisfit(misfits, 'on there, and paused here: it stays so', name)
  const change = changeOf(wish, row, widened.get(row.id) ?? new Set(), misfits)
  if (Object.keys(change).length === 0) steps.unchanged += 1
  else steps.changes.push({ id: row.id, name, change })
}

function decideStop(steps: Steps, { id, name, pausedAt }: KeyRow, state: FoundState): void {
  if (state.is === 'on' || (state.is === 'off' && pausedAt !== null)) steps.unchanged += 1
  else {
    const does = state.is === 'gone' ? 'revoke' : 'pause'
    steps.stops.push({ does, id, name, why: state.why })
  }
}

/** Only tightens: what a person made lower stays so, and what one raised is that person's. */
function changeOf(
  wish: KeyWish,
  row: KeyRow,
  widened: ReadonlySet<string>,
  misfits: Misfits,
): KeyChange {
  const change: KeyChange = {}
  const note = (why: string): void => addMisfit(misfits, why, row.name)
  const isTheirs = (member: string, what: string): boolean => {
    if (widened.has(member)) note(`its ${what} was raised here: it stays so`)
    return widened.has(member)
  }
  if (wish.capWindow !== row.capWindow) {
    note('its cap is renewed otherwise there: revoke it here, or set its cap by hand')
  } else if (wish.capLimit < row.capLimit && !isTheirs('cap.limit_nusd', 'cap')) {
    change.capLimit = wish.capLimit
  }
  const isEarlier = wish.hasExpiry && wish.expiresAt < row.expiresAt
  if (isEarlier && !isTheirs('expires_at', 'expiry')) change.expiresAt = wish.expiresAt
  if (wish.models.length > 0) {
    const models = commonOf(wish.models, row.models)
    if (models.length === 0) note('it allows other models there: none of both')
    else if (isOther(models, row.models) && !isTheirs('models', 'list of models')) {
      change.models = models
    }
  }
  if (wish.ipCidrs.length > 0 && isOther(wish.ipCidrs, row.ipCidrs)) {
    if (row.ipCidrs.length > 0) note('its networks are others there, and stay as they are')
    else if (!isTheirs('ip_cidrs', 'list of networks')) change.ipCidrs = [...wish.ipCidrs]
  }
  for (const name of ['rpm', 'concurrency'] as const) {
    const [there, here] = [wish[name], row[name]]
    const isLower = there !== null && (here === null || there < here)
    if (isLower && !isTheirs(`limits.${name}`, name)) change[name] = there
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
