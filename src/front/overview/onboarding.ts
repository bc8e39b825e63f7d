/** How far an account is on the way to its first verified receipt. */
import type { Deps } from '../../app/deps-port.ts'
import { toHex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import { checkReceipt } from '../../proof/receipts/check-receipt.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { ownFileOf } from '../../proof/receipts/receipt-file.ts'
import type { ShownRun } from '../../runs/shown-run.ts'
import type { AccountRow } from '../../storage/db/schema/schema.ts'

/** The steps done besides the first, which is having a wallet. */
export type Onboarding = {
  hasCredit: boolean
  hasKey: boolean
  /** The newest run that left a receipt. */
  ended: ShownRun['run'] | undefined
}

/** A wallet, credit, a key, a run, its receipt verified. */
export const stepCount = 5

/** The progress of an account; undefined once it has verified a receipt. */
export async function readOnboarding(
  { onboarding }: Pick<Deps, 'onboarding'>,
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

type OnboardingInput = {
  account: string
  runId: string
  actor: string
  /** What the reader's own browser computed and checked; undefined where no script runs. */
  digest: string | undefined
}

/**
 * Records that a receipt of the account passed: in the browser, which names the digest it judged,
 * or by the server's own check alone. The server checks in both cases.
 * @throws Refusal 'not_found' for a run of another account, 'conflict' for one without a receipt,
 * 'unprocessable' when the receipt does not verify or has another digest.
 */
export async function verifyOwn(
  deps: Deps,
  { account, runId, actor, digest }: OnboardingInput,
): Promise<void> {
  const receiptId = receiptIdOf(runId)
  const found = await deps.receipts.find(receiptId)
  if (found?.accountId !== account) refuse('not_found', 'No such receipt.')
  if (digest !== undefined && digest.toLowerCase() !== toHex(found.digest)) {
    refuse('unprocessable', 'Your browser checked a receipt with another digest.')
  }
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
    detail: { level: verdict.level, by: digest === undefined ? 'server' : 'browser' },
  })
}
