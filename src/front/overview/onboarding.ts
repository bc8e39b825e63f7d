import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { checkReceipt } from '../../proof/receipts/check-receipt.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { ownFileOf } from '../../proof/receipts/receipt-file.ts'
import type { ShownRun } from '../../runs/shown-run.ts'
import type { AccountRow } from '../../storage/db/schema.ts'

/** How far an account is on the way to a receipt that somebody checked; a wallet it has. */
export type Onboarding = {
  hasCredit: boolean
  hasKey: boolean
  /** The newest run that left a receipt. */
  ended: ShownRun['run'] | undefined
}

/** The steps there are: a wallet, credit, a key, a run, its receipt verified. */
export const stepCount = 5

type Needs = Pick<Deps, 'onboarding'>

/** What is done of it; undefined once a receipt was verified. */
export async function readOnboarding(
  { onboarding }: Needs,
  account: AccountRow,
  recent: readonly ShownRun[],
): Promise<Onboarding | undefined> {
  if (await onboarding.hasVerified(account.id)) return undefined
  const hasRun = recent.length > 0
  return {
    hasCredit: hasRun || account.balance > 0n,
    hasKey: hasRun || (await onboarding.hasKey(account.id)),
    ended: recent.find(({ run }) => run.digest !== null)?.run,
  }
}

export const stepsDone = ({ hasCredit, hasKey, ended }: Onboarding): number =>
  1 + [hasCredit, hasKey, ended].filter(Boolean).length

/**
 * Verifies a receipt of an account as anybody would, and notes that it passed.
 * @throws Refusal 'not_found' for a run of another account, 'conflict' for one without a receipt,
 * 'unprocessable' when the receipt does not verify.
 */
export async function verifyOwn(
  deps: Pick<Deps, 'receipts' | 'texts' | 'onboarding' | 'clock'> &
    Parameters<typeof ownFileOf>[0] &
    Parameters<typeof checkReceipt>[0],
  { account, runId, actor }: { account: string; runId: string; actor: string },
): Promise<void> {
  const receiptId = receiptIdOf(runId)
  const found = await deps.receipts.find(receiptId)
  if (found?.accountId !== account) refuse('not_found', 'There is no such receipt.')
  const file = await ownFileOf(deps, found, await deps.texts.find(runId))
  const verdict = await checkReceipt(deps, file)
  if (!verdict.valid) refuse('unprocessable', 'The receipt does not verify. Open it to see why.')
  await deps.onboarding.noteVerified({
    id: '',
    at: deps.clock.now(),
    actor,
    action: 'receipt.verify',
    accountId: account,
    subject: receiptId,
    detail: { level: verdict.level },
  })
}
