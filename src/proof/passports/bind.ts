/** Binds keys to a passport, and unbinds them. */
import { assertNotRevoked, chainOf } from '../../access/keys/key.ts'
import { noteKey } from '../../access/keys/note.ts'
import { findAccountKey } from '../../access/keys/owns.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { KeyRow, PassportRow } from '../../storage/db/schema/schema.ts'
import { assertNotRetired } from './passport.ts'

type Needs = Pick<Deps, 'passports' | 'keys' | 'ledger' | 'ids'>

/**
 * Lets the receipts of a key name a passport from now on. A key names one at most: one that named
 * another is moved, and what it did before stays where it was counted. Keys below it are not
 * bound with it.
 * @throws Refusal `not_found` for a key of others, `conflict` for a revoked one, `gone`.
 */
export async function bindKey(
  deps: Needs,
  { passport, keyId, actor }: { passport: PassportRow; keyId: string; actor: string },
): Promise<void> {
  assertNotRetired(passport)
  const key = await findAccountKey(deps, { account: passport.accountId }, keyId)
  await point(deps, key, { to: passport.handle, actor })
  const now = await deps.passports.find(passport.handle)
  if (now?.status !== 'retired') return
  // It was retired meanwhile, perhaps after its keys were taken from it.
  await unbindAll(deps, { passport, actor })
  assertNotRetired(now)
}

/**
 * Takes a key from a passport: what it runs from now on names none.
 * @throws Refusal `not_found` for a key of others.
 */
export async function unbindKey(
  deps: Needs,
  { passport, keyId, actor }: { passport: PassportRow; keyId: string; actor: string },
): Promise<void> {
  const key = await findAccountKey(deps, { account: passport.accountId }, keyId)
  await point(deps, key, { from: passport.handle, to: '', actor })
}

/** Takes all keys from a passport. */
export async function unbindAll(
  deps: Needs,
  { passport, actor }: { passport: PassportRow; actor: string },
): Promise<void> {
  const bound = await keysOf(deps, passport)
  if (bound.length === 0) return
  await deps.ledger.post({
    isExempt: true,
    account: passport.accountId,
    keys: bound.map(({ id }) => id),
    decide(unit) {
      for (const { id } of bound) {
        const key = unit.key(id)
        if (key?.passport === passport.handle) write(deps, unit, key, { to: '', actor })
      }
    },
  })
  for (const { id } of bound) deps.keys.forget(id)
}

/** The keys whose receipts name a passport from now on. */
export const keysOf = async (
  { passports }: Pick<Deps, 'passports'>,
  { accountId, handle }: PassportRow,
): Promise<KeyRow[]> =>
  (await passports.boundKeys(accountId)).filter(({ passport }) => passport === handle)

/** `from`: only while the key names that one. */
type Move = { from?: string; to: string; actor: string }

async function point(deps: Needs, key: KeyRow, move: Move): Promise<void> {
  await deps.ledger.post({
    account: key.accountId,
    keys: key.lineage,
    decide(unit) {
      const chain = chainOf(unit, key.lineage)
      const [found] = chain
      if (!found) throw new Error('a chain without a key')
      if (move.to !== '') assertNotRevoked(chain)
      if (found.passport === move.to) return
      if (move.from !== undefined && found.passport !== move.from) return
      write(deps, unit, found, move)
    },
  })
  deps.keys.forget(key.id)
}

function write({ ids }: Needs, unit: UnitOfWork, key: KeyRow, { to, actor }: Move): void {
  const detail = { from: key.passport || null, to: to || null }
  key.passport = to
  unit.changed('key', key)
  const action = to === '' ? 'passport.unbind' : 'passport.bind'
  noteKey(unit, ids, key, { actor, action, detail })
}
