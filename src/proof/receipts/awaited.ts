/** Tells whether the first steps of an account wait for the check of a receipt. */
import type { Deps } from '../../app/deps-port.ts'
import type { Ended } from './receipt.ts'

/** The run, if its owner has not verified any receipt yet. */
export const awaitedRun = async (
  { onboarding }: Pick<Deps, 'onboarding'>,
  { id, accountId }: Pick<Ended, 'id' | 'accountId'>,
): Promise<string | undefined> => ((await onboarding.hasVerified(accountId)) ? undefined : id)
