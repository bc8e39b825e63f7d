/** Commands on one key: its chain is loaded, and who acts is checked at the commit. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Command } from '../../ledger/command.ts'
import type { Once } from '../../ledger/once.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { assertStillMember, membershipOf } from '../membership.ts'
import { assertActs, assertNotRevoked, type Chain, chainOf, type KeyCommand } from './key.ts'
import type { ShownKey } from './shown-key.ts'

type Needs = Pick<Deps, 'ledger' | 'keys'>
type KeyCommandOptions = KeyCommand & { once?: Once<ShownKey> | undefined }
type Decision = Pick<Command<KeyRow>, 'isExempt' | 'isRepair' | 'secretsOf'> & {
  /** Changes `key`, the first of `chain`. */
  decide(unit: UnitOfWork, key: KeyRow, chain: Chain): void
}

/** @throws Refusal `not_found` */
export const findKey = async ({ keys }: Pick<Deps, 'keys'>, keyId: string): Promise<KeyRow> =>
  (await keys.find(keyId)) ?? refuse('not_found', 'There is no such key.')

/**
 * Posts a change of a key that was found, and returns the key as it is after it.
 * @throws Refusal `conflict` if it is revoked, and as {@link assertActs}
 */
export async function postForKey(
  { ledger, keys }: Needs,
  found: KeyRow,
  { keyId, actor, acting, once }: KeyCommandOptions,
  { decide, ...members }: Decision,
): Promise<KeyRow> {
  const changed = await ledger.post({
    isExempt: actor === 'operator',
    ...members,
    account: found.accountId,
    keys: found.lineage,
    call: once?.scope,
    parts: membershipOf(acting),
    decide(unit) {
      assertStillMember(unit, acting)
      once?.assertFirst(unit)
      const chain = chainOf(unit, found.lineage)
      assertNotRevoked(chain)
      assertActs(chain, actor, unit.now)
      const [key] = chain
      if (!key) throw new Error('a chain without a key')
      decide(unit, key, chain)
      // A copy: the unit of work's row is the ledger's own.
      return { ...key }
    },
  })
  keys.forget(keyId)
  return changed
}
