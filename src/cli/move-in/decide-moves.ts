/** Compares a plan with what is here: each step that a run takes, or that a dry run tells. */
import type { KeyChange } from '../../access/keys/change.ts'
import { max, min, toUsd } from '../../kernel/money.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { addMisfit, type FoundState, type Misfits } from './found.ts'
import { decideGrants, type GrantStep, type MoneyHere, type MoneySteps } from './move-money.ts'
import { commonOf, type KeyWish, type MovePlan, type OwnerPlan } from './plan-moves.ts'
import { tightened } from './tighten.ts'

/** The things here that an earlier run or people have made. */
export type Present = MoneyHere & {
  /** By key, the members that people made wider than they were. */
  widened: ReadonlyMap<string, ReadonlySet<string>>
}

export type StopStep = { does: 'pause' | 'revoke'; id: string; name: string; why: string }
export type ChangeStep = { id: string; name: string; change: KeyChange }
export type CreateStep = KeyWish & { account: string }

export type Steps = {
  grants: GrantStep[]
  creates: CreateStep[]
  changes: ChangeStep[]
  stops: StopStep[]
  unchanged: number
}

/** @throws Error, before anything is written, for what cannot be done as a whole */
export function decideMoves(plan: MovePlan, present: Present, misfits: Misfits): Steps {
  const money = decideGrants(plan, present, misfits)
  const grants = [...money.grants.values()]
  const steps: Steps = { grants, creates: [], changes: [], stops: [], unchanged: 0 }
  for (const owner of plan.owners) decideOwner(owner, { steps, money, present, misfits })
  for (const { id, state } of plan.stops) {
    const row = present.keys.get(id)
    if (row && row.revokedAt === null) decideStop(steps, row, state)
  }
  noteVanished(plan, present, misfits)
  return steps
}

type Deciding = { steps: Steps; money: MoneySteps; present: Present; misfits: Misfits }

function decideOwner(owner: OwnerPlan, deciding: Deciding): void {
  const { present, misfits } = deciding
  const { parent, source, keys } = owner
  const here = present.keys.get(parent.id)
  if (here) decidePresent(parent, here, deciding)
  else if (parent.state.is !== 'on') {
    const what = `${source} (${toUsd(owner.balance)} USD)`
    addMisfit(misfits, `its balance and keys stay there: ${parent.state.why}`, what)
  }
  const aboves: Aboves = new Map()
  const above = aboveOf(owner, deciding)
  if (above) aboves.set(parent.id, above)
  const members = new Map(keys.filter((one) => one.isParent).map((one) => [one.id, one]))
  for (const key of keys) {
    const member = members.get(key.parentId ?? '')
    const row = present.keys.get(key.id)
    if (row) {
      decideKey({ key, row, parent, member }, deciding)
      if (key.state.is === 'on' && isUsable(row)) aboves.set(key.id, row)
    } else if (key.state.is !== 'on') addMisfit(misfits, `a key: ${key.state.why}`, key.name)
    else if (above && !key.isParent) {
      const isNewMember = member && !present.keys.has(member.id) && !aboves.has(member.id)
      for (const one of isNewMember ? [member, key] : [key]) create(one, aboves, owner, deciding)
    }
  }
}

/** The limits of usable keys, here or to be made, that others may stand below. */
type Aboves = Map<string, Pick<KeyRow, 'capLimit' | 'expiresAt'> & { models: readonly string[] }>

const isUsable = ({ revokedAt, pausedAt }: KeyRow): boolean =>
  revokedAt === null && pausedAt === null

/** The key of an owner, here or to be made; undefined where no key comes over below it. */
function aboveOf(owner: OwnerPlan, { steps, money, present, misfits }: Deciding) {
  const { parent, account, grantId, source, keys } = owner
  if (account === undefined || parent.state.is !== 'on') return undefined
  const here = present.keys.get(parent.id)
  if (here) {
    if (isUsable(here)) return here
    addMisfit(misfits, 'stopped here: no new key comes over below it', source)
    return undefined
  }
  if (money.staying.has(grantId)) return undefined
  // A run that was cut off after its grants has booked this balance, and no more.
  const booked = present.booked.get(grantId)?.amount
  if (!money.grants.has(grantId) && !booked && !keys.some(({ state }) => state.is === 'on')) {
    return undefined
  }
  const capLimit = booked === undefined ? parent.capLimit : min(parent.capLimit, booked)
  const made = { ...parent, account, capLimit }
  steps.creates.push(made)
  return made
}

/** A new key has no more than the one above it has here now. */
function create(key: KeyWish, aboves: Aboves, owner: OwnerPlan, deciding: Deciding): void {
  const { steps, present, misfits } = deciding
  const above = aboves.get(key.parentId ?? '')
  const models = key.models.length === 0 ? [] : commonOf(key.models, above?.models ?? [])
  if (!above || (models.length === 0 && key.models.length > 0)) {
    const why = above ? 'it allows no model that its owner may use here' : 'its member is stopped'
    addMisfit(misfits, `a key: ${why}`, key.name)
    return
  }
  // The money of other strangers is granted, and its own is not.
  const booked = present.booked.get(owner.grantId)?.amount
  const isLater = booked !== undefined && owner.balance > booked
  const isLate = owner.isOfStrangers && (isLater || present.keys.has(owner.parent.id))
  if (isLate) addMisfit(misfits, 'a key without an owner came later: grant its money', key.name)
  const made = {
    ...{ ...key, account: owner.account ?? '', models },
    capLimit: isLate ? 1n : min(key.capLimit, above.capLimit),
    expiresAt: Math.min(key.expiresAt, above.expiresAt),
  }
  steps.creates.push(made)
  if (key.isParent) aboves.set(key.id, made)
}

/** Keys that an import made here and that are not there: only a person knows why. */
function noteVanished({ as, known }: MovePlan, { keys }: Present, misfits: Misfits): void {
  if (known.size === 0) return
  for (const { id, name, revokedAt, tags } of keys.values()) {
    if (known.has(id) || revokedAt !== null || !tags['moved_from']?.startsWith(`${as}/`)) continue
    addMisfit(misfits, 'not there any more, and stays here: revoke it if it was deleted', name)
  }
}

type KeyHere = { key: KeyWish; row: KeyRow; parent: KeyWish; member: KeyWish | undefined }

/** A key that stands below another there keeps its place, and the limits of both hold. */
function decideKey({ key, row, parent, member }: KeyHere, deciding: Deciding): void {
  const isElsewhere = key.account !== undefined && row.accountId !== key.account
  if (row.parentId === key.parentId && !isElsewhere) {
    decidePresent(key, row, deciding)
    return
  }
  if (row.revokedAt === null) {
    addMisfit(deciding.misfits, 'belongs to another there: revoke it here, or leave it', row.name)
  }
  const chain = [key, ...(member ? [member] : []), parent]
  const lowest = (name: 'rpm' | 'concurrency') => {
    const known = chain.map((one) => one[name]).filter((one) => one !== null)
    return known.length === 0 ? null : Math.min(...known)
  }
  const stopped = chain.find(({ state }) => state.is !== 'on')?.state
  const shared = 'it shares the budget of a member of a team there, and not here'
  const wish: KeyWish = {
    ...{ ...key, rpm: lowest('rpm'), concurrency: lowest('concurrency') },
    state: stopped ?? (member ? { is: 'off', why: shared } : key.state),
  }
  decidePresent(wish, row, deciding)
}

function decidePresent(wish: KeyWish, row: KeyRow, { steps, present, misfits }: Deciding): void {
  const { id, name } = row
  if (row.revokedAt !== null) {
    steps.unchanged += 1
    return
  }
  if (wish.state.is !== 'on') {
    decideStop(steps, row, wish.state)
    return
  }
  if (row.pausedAt !== null) addMisfit(misfits, 'on there, and paused here: it stays so', name)
  const change = tightened(wish, row, { widened: present.widened.get(id) ?? new Set(), misfits })
  if (typeof change === 'string') decideStop(steps, row, { is: 'off', why: change })
  else if (Object.keys(change).length === 0) steps.unchanged += 1
  else steps.changes.push({ id, name, change })
}

function decideStop(steps: Steps, { id, name, pausedAt }: KeyRow, state: FoundState): void {
  if (state.is === 'on' || (state.is === 'off' && pausedAt !== null)) steps.unchanged += 1
  else {
    const does = state.is === 'gone' ? 'revoke' : 'pause'
    steps.stops.push({ does, id, name, why: state.why })
  }
}

/** The lowest cap that a key can have, for one whose window has taken more. */
export const raisedTo = (cap: bigint, smallest: unknown): bigint =>
  typeof smallest === 'number' ? max(cap, BigInt(smallest)) : cap
