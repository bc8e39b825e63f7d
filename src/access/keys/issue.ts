/** Creates a key under the limits of its parent and of the account's plan. */
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import type { Millis } from '../../kernel/clock.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { accountMark } from '../../kernel/shard.ts'
import type { Once } from '../../ledger/once.ts'
import type { CapWindow } from '../../ledger/window.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { assertStillMember, membershipOf } from '../membership.ts'
import type { Plan } from '../plan.ts'
import { type Rights, type RightsChange, withRights } from './bounds.ts'
import { assertUsable, chainOf, depthOf, maxActiveKeys, maxDepth } from './key.ts'
import { type LimitsChange, noLimits, withLimits } from './key-limits.ts'
import { noteKey, toDetail } from './note.ts'
import { isKeyOf } from './owns.ts'
import { fingerprintOf, hashSecret, makeSecret, secretPrefix } from './secret.ts'
import type { ShownKey } from './shown-key.ts'

/** A new key. Absent members take the default or the parent's value. */
export type KeyRequest = LimitsChange &
  RightsChange &
  Pick<Rights, 'name' | 'capLimit'> & {
    account: string
    /** Set if the same request may come twice and must create one key; random otherwise. */
    id?: string | undefined
    /** Set if it is kept somewhere before the key exists; random otherwise. */
    secret?: string | undefined
    parentId?: string | undefined
    capWindow: CapWindow
    /** Set if the caller sent an Idempotency-Key. */
    once?: Once<ShownKey> | undefined
    /** Its maker, for the audit: `operator`, a wallet or a key id. */
    actor: string
    /** The caller in the dashboard, whose membership must still exist at the commit. */
    acting?: Actor | undefined
  }

/**
 * Creates a key and returns it with its secret, which is not stored.
 * @throws Refusal `invalid_request` with `param`, `conflict` above the plan's number of active keys
 * and for a taken id, or the refusal of the parent's chain.
 */
export async function issueKey(
  deps: Pick<Deps, 'ledger' | 'keys' | 'plans' | 'random' | 'ids' | 'shard'>,
  wish: KeyRequest,
): Promise<{ key: KeyRow; secret: string }> {
  const { ledger, keys, plans, random, ids, shard } = deps
  const parent = wish.parentId === undefined ? undefined : await keys.find(wish.parentId)
  const whose = { account: wish.account, branch: wish.acting?.branch }
  if (wish.parentId !== undefined && !(parent && isKeyOf(parent, whose))) {
    refuseField('parent_id', 'There is no such parent key.')
  }
  const secret = wish.secret ?? newSecret({ random, shard }, wish.account)
  const hash = hashSecret(secret)
  const id = wish.id ?? ids.make('key')
  const lineage = parent?.lineage ?? []
  const key = await ledger.post({
    isExempt: wish.actor === 'operator',
    isRepair: wish.acting !== undefined,
    account: wish.account,
    opens: true,
    mints: true,
    keys: wish.id === undefined ? lineage : [wish.id, ...lineage],
    call: wish.once?.scope,
    parts: membershipOf(wish.acting),
    decide(unit) {
      assertStillMember(unit, wish.acting)
      wish.once?.assertFirst(unit)
      if (unit.key(id))
        refuse('conflict', 'This key was created already. Its secret was shown once.')
      const chain = chainOf(unit, lineage)
      assertUsable(chain, unit.now)
      const row = toKeyRow(wish, chain[0], { id, hash, now: unit.now })
      const account = unit.account(wish.account)
      if (!account) throw new Error('a key for an account that was not opened')
      assertInPlan(plans.of(account, unit.now), unit.activeKeys(wish.account), row)
      const above = chain[0]
      if (above) {
        above.childrenCount += 1
        unit.changed('key', above)
      }
      unit.addKey(row, { hash, keyId: id, validUntil: null, selfRotated: false })
      const detail = { parent_id: row.parentId, fingerprint: row.fingerprint, ...toDetail(row) }
      noteKey(unit, ids, row, { actor: wish.actor, action: 'key.create', detail })
      const shown = { chain: [row, ...chain], window: undefined, overlapUntil: null }
      wish.once?.note(unit, { key: row, ...shown })
      // A copy: the unit of work's row is the ledger's own.
      return { ...row }
    },
  })
  return { key, secret }
}

/** The secret of a key that is to be made for an account. */
export const newSecret = ({ random, shard }: Pick<Deps, 'random' | 'shard'>, account: string) =>
  makeSecret(random, secretPrefix, accountMark(shard, account))

/** @throws Refusal `conflict` above the plan's active keys, `invalid_request` above its depth */
export function assertInPlan({ name, limits }: Plan, active: number, row: KeyRow): void {
  const most = Math.min(limits.maxKeys, maxActiveKeys)
  if (active >= most) {
    const message = `An account has at most ${most} active keys on the plan ${name}.`
    refuse('conflict', `${message} Revoke one first, or choose a larger plan.`)
  }
  if (depthOf(row) > limits.maxDepth) {
    const message = `Keys nest at most ${limits.maxDepth} deep on the plan ${name}.`
    refuseField('parent_id', `${message} Create the key under a higher one.`)
  }
}

/** @throws Refusal `invalid_request` with `param` */
function toKeyRow(
  wish: KeyRequest,
  parent: KeyRow | undefined,
  made: { id: string; hash: string; now: Millis },
): KeyRow {
  if (parent && depthOf(parent) >= maxDepth) {
    refuseField(
      'parent_id',
      `Keys nest at most ${maxDepth} deep. Create the key under a higher one.`,
    )
  }
  return {
    id: made.id,
    accountId: wish.account,
    parentId: parent?.id ?? null,
    lineage: [made.id, ...(parent?.lineage ?? [])],
    branch: parent?.branch ?? null,
    fingerprint: fingerprintOf(made.hash),
    secretBy: wish.actor,
    capWindow: wish.capWindow,
    ...withLimits(noLimits, wish),
    ...withRights(undefined, wish, parent, made.now),
    passport: '',
    childrenCount: 0,
    createdAt: made.now,
    pausedAt: null,
    pausedReason: null,
    leakAnsweredAt: null,
    revokedAt: null,
    revokedBy: null,
    lastUsedAt: null,
  }
}
