/** Takes room for what a change of a webhook stores, and checks once more who asks for it. */
import { assertUsable, chainOf } from '../../access/keys/key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { rowsBeside } from '../../ledger/stored-beside.ts'

/** The account, the wallet or key that the audit names, and the lineage of a key. */
export type RoomOwner = { account: string; actor: string; lineage?: readonly string[] | undefined }

/**
 * The key may have been paused since its request came: a body can take its time.
 * @throws Refusal `rate_limited` where the budget of free writes is used up, or for the key's state
 */
export const takeRoom = (
  { ledger }: Pick<Deps, 'ledger'>,
  { account, lineage = [] }: RoomOwner,
  ...stored: readonly unknown[]
): Promise<void> =>
  ledger.post({
    account,
    keys: lineage,
    decide(unit) {
      assertUsable(chainOf(unit, lineage), unit.now)
      unit.part(rowsBeside).push(...stored)
    },
  })
