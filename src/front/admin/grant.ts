/** Grants credit from an admin's form, once per form. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import type { Ids } from '../../kernel/ids.ts'
import { type Nusd, toJsonInteger } from '../../kernel/money.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { grantCredit } from '../../ledger/grant.ts'
import { onceOf } from '../../ledger/once.ts'

type GrantRequest = { account: string; amount: Nusd; reason: string; actor: string; once: string }

/** Lifetime of a form: as long as its idempotency record, in ms. */
const dayMs = 86_400_000
/** Largest clock difference between two nodes, in ms. */
const skewMs = 60_000

/** The token of one grant form, which makes resubmissions of the form grant only once. */
export const makeGrantToken = (ids: Ids, now: Millis): string =>
  `${now}.${ids.make('req').slice(-16)}`

/**
 * Grants the amount of a form unless that form already did; `granted` says whether it did now.
 * @throws Refusal 'conflict' for an expired form or above the balance limit,
 * 'idempotency_mismatch' for a form sent before with other values
 */
export async function grantOnce(
  deps: Pick<Deps, 'clock' | 'ids' | 'ledger' | 'replies' | 'settings'>,
  wish: GrantRequest,
): Promise<{ granted: boolean }> {
  const { once, account, amount, reason, actor } = wish
  assertFresh(once, deps.clock.now())
  const call = {
    scope: sha256Hex(`${actor}\nadmin grant\n${once}`),
    fingerprint: deps.replies.fingerprint(JSON.stringify([account, String(amount), reason])),
  }
  const note = onceOf<Nusd>(deps, call, (balance) => ({
    status: 200,
    headers: {},
    body: JSON.stringify({ balance_nusd: toJsonInteger(balance) }),
  }))
  try {
    await grantCredit(deps, { account, amount, reason, actor, once: note })
    return { granted: true }
  } catch (error) {
    // The record is written in the granting transaction, so its presence means granted.
    if (error instanceof Refusal && error.type === 'idempotency_in_progress') {
      return { granted: false }
    }
    throw error
  }
}

function assertFresh(once: string, now: Millis): void {
  const at = /^\d{13}\.[0-9a-z]{16}$/.test(once) ? Number(once.slice(0, 13)) : 0
  if (at >= now - dayMs && at <= now + skewMs) return
  refuse('conflict', 'The form has expired. Nothing was granted; open it again.')
}
