import { grantCredit } from '../../../src/ledger/grant.ts'
import { publishLiabilities } from '../../../src/proof/liabilities/publish-liabilities.ts'
import type { LiabilitiesFile } from '../../../src/verify/liabilities.ts'
import type { World } from '../../support/world.ts'

/** An account by a number. */
export const accountOf = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`

/** Gives accounts 1, 2, … these balances, in nano-USD; an account of zero is not opened. */
export async function fund({ deps }: World, balances: readonly bigint[]): Promise<void> {
  for (const [i, amount] of balances.entries()) {
    const account = accountOf(i + 1)
    await grantCredit(deps, { account, amount, reason: 'test', actor: 'test' })
  }
}

/** Makes the next statement on the node of this world. */
export async function publish({ deps }: World) {
  const lease = await deps.liabilities.takeLease()
  if (!lease) throw new Error('another node has the lease')
  const row = await publishLiabilities(deps, lease)
  if (!row) throw new Error('there is no account')
  return row
}

/** A copy of a file with something else in it. */
export function changed(
  file: LiabilitiesFile,
  change: (copy: LiabilitiesFile) => void,
): LiabilitiesFile {
  const copy = structuredClone(file)
  change(copy)
  return copy
}
