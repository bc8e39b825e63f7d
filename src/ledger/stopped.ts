/** Stops commands for accounts whose slot moves to another shard. */
import type { Refusal } from '../kernel/refusal.ts'
import { slotMoving } from '../kernel/shard.ts'
import type { AccountRow } from '../storage/db/schema/schema.ts'
import type { Command } from './command.ts'

/**
 * Why a command must leave its accounts alone; undefined where it need not. The rows are those that
 * its transaction has locked, so no node can miss a move. Until the money has left, open runs end
 * and keys are revoked as ever.
 */
export function whyStopped(
  { account, to, run, below }: Command<unknown>,
  accounts: { get(id: string): AccountRow | undefined },
): Refusal | undefined {
  const endsOrRevokes = run !== undefined || below !== undefined
  for (const id of to === undefined ? [account] : [account, to]) {
    const row = accounts.get(id)
    if (!row || row.slotMove === null) continue
    if (row.leftAt !== null || !endsOrRevokes) return slotMoving()
  }
  return undefined
}
