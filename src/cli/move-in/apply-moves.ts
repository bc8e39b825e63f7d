/** Posts the keys and grants of a plan; what is there already is brought up to date. */
import { changeKey, type KeyChange } from '../../access/keys/change.ts'
import { issueKey } from '../../access/keys/issue.ts'
import { maxActiveKeys } from '../../access/keys/key.ts'
import type { Plans } from '../../access/plan.ts'
import type { openCommandServices } from '../../app/open-command-services.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { grantCredit } from '../../ledger/grant.ts'
import type { Once } from '../../ledger/once.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { addMisfit, type Misfits } from './found.ts'
import type { GrantWish, KeyWish, MovePlan } from './plan-moves.ts'

export type Office = Awaited<ReturnType<typeof openCommandServices>>

/** The keys of a plan that are there already, by id. */
export async function presentKeys({ keys }: Office, plan: MovePlan): Promise<Map<string, KeyRow>> {
  const present = new Map<string, KeyRow>()
  for (const wish of plan.keys) {
    const row = await keys.find(wish.id)
    if (row) present.set(row.id, row)
  }
  return present
}

/** How many keys an account would have, by the plan that must allow them. */
export type NeededKeys = Map<string, number>

/**
 * Plans whose limit of keys is too low, with the number that is needed.
 * @throws Error for an account with more keys than any may have
 */
export async function neededKeys(
  { keys, plans, accounts, clock }: Office,
  plan: MovePlan,
  present: ReadonlyMap<string, KeyRow>,
): Promise<NeededKeys> {
  const now = clock.now()
  const needed: NeededKeys = new Map()
  const fresh = Map.groupBy(
    plan.keys.filter(({ id }) => !present.has(id)),
    ({ account }) => account,
  )
  for (const [account, wishes] of fresh) {
    const active = await keys.tree({ account }, now)
    const most = active.length + wishes.length
    if (most > maxActiveKeys) {
      const why = `${account} would have ${most} keys, and an account has at most ${maxActiveKeys}`
      throw new Error(`${why}: give users accounts of their own with --map`)
    }
    const row = await accounts.find(account)
    const own = plans.of(row ?? { plan: 'free', planUntil: null }, now)
    const known = needed.get(own.id) ?? own.limits.maxKeys
    if (most > known) needed.set(own.id, most)
  }
  return needed
}

export type Outcome = { created: number; updated: number; unchanged: number; granted: bigint }

export type Applying = {
  plan: MovePlan
  present: ReadonlyMap<string, KeyRow>
  plans: Plans
  misfits: Misfits
  /** Keeps a new secret; called once for each key that is created. */
  keep(wish: KeyWish, secret: string, key: KeyRow): void
}

export async function applyMoves(office: Office, applying: Applying): Promise<Outcome> {
  const outcome: Outcome = { created: 0, updated: 0, unchanged: 0, granted: 0n }
  for (const grant of applying.plan.grants) {
    if (grant.amount === 0n) continue
    await postGrant(office, grant)
    outcome.granted += grant.amount
  }
  const rows = new Map(applying.present)
  for (const wish of applying.plan.keys) {
    const parent = wish.parentId === undefined ? undefined : rows.get(wish.parentId)
    try {
      const before = rows.get(wish.id)
      if (before) outcome[await update(office, wish, before, parent)] += 1
      else rows.set(wish.id, await create(office, applying, wish, parent))
      if (!before) outcome.created += 1
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      addMisfit(applying.misfits, `refused here: ${error.message}`, wish.name)
    }
  }
  return outcome
}

/** Two imports at once grant a balance once: the second meets the note of the first. */
function postGrant(office: Office, { account, amount, source, before }: GrantWish) {
  const scope = `move-in ${source} ${before}`
  const once: Once<bigint> = {
    scope,
    assertFirst(unit) {
      if (unit.call(scope)) refuse('conflict', `Another import grants ${source} right now.`)
    },
    note(unit) {
      const row = { scope, fingerprint: '', node: 'move-in', runId: null, reply: null }
      unit.addCall({ ...row, createdAt: unit.now, until: unit.now + onceMs })
    },
  }
  const reason = `moved in: ${source}`
  return grantCredit(office, { account, amount, reason, source, actor: 'operator', once })
}

/** Longer than an import runs beside another; a later one reads what was granted. */
const onceMs = 600_000

async function create(
  office: Office,
  { plans, keep }: Applying,
  wish: KeyWish,
  parent: KeyRow | undefined,
): Promise<KeyRow> {
  const { hasExpiry: _, isParent: __, owner: ___, ...request } = wish
  const { key, secret } = await issueKey(
    { ...office, plans },
    {
      ...request,
      expiresAt: Math.min(wish.expiresAt, parent?.expiresAt ?? wish.expiresAt),
      scopes: undefined,
      actor: 'operator',
    },
  )
  keep(wish, secret, key)
  return key
}

/** Its name, scopes and tags are its owner's by now; limits and caps follow the other gateway. */
async function update(
  office: Office,
  wish: KeyWish,
  before: KeyRow,
  parent: KeyRow | undefined,
): Promise<'updated' | 'unchanged'> {
  if (before.revokedAt !== null) return 'unchanged'
  const change = changeOf(wish, before, parent)
  if (Object.keys(change).length === 0) return 'unchanged'
  const command = { keyId: before.id, actor: 'operator' }
  Object.assign(before, await changeKey(office, { ...command, change }))
  return 'updated'
}

function changeOf(wish: KeyWish, before: KeyRow, parent: KeyRow | undefined): KeyChange {
  const isSame = (a: readonly string[], b: readonly string[]) => a.join('\n') === b.join('\n')
  const change: KeyChange = {}
  const isHigher = wish.capLimit > before.capLimit
  if (wish.isParent ? isHigher : wish.capLimit !== before.capLimit) change.capLimit = wish.capLimit
  if (wish.isParent) return change
  const expiresAt = Math.min(wish.expiresAt, parent?.expiresAt ?? wish.expiresAt)
  if (wish.hasExpiry && expiresAt !== before.expiresAt) change.expiresAt = expiresAt
  if (!isSame(wish.models, before.models)) change.models = wish.models
  if (!isSame(wish.ipCidrs, before.ipCidrs)) change.ipCidrs = wish.ipCidrs
  if (wish.rpm !== before.rpm) change.rpm = wish.rpm
  if (wish.concurrency !== before.concurrency) change.concurrency = wish.concurrency
  return change
}
