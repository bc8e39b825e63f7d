import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import type { Ids } from '../../kernel/ids.ts'
import { type Nusd, toJsonInteger } from '../../kernel/money.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { grantCredit } from '../../ledger/grant.ts'
import { onceOf } from '../../ledger/once.ts'

type Needs = Pick<Deps, 'clock' | 'ids' | 'ledger' | 'replies' | 'settings'>

type Wish = { account: string; amount: Nusd; reason: string; actor: string; once: string }

/** A form is good as long as what it made is remembered. */
const dayMs = 86_400_000
/** Clocks of two nodes may differ by this much. */
const skewMs = 60_000

/** The token of one form of a grant: however often the form is sent, it grants once. */
export const makeGrantToken = (ids: Ids, now: Millis): string =>
  `${now}.${ids.make('req').slice(-16)}`

/**
 * Grants what a form asks for, unless that form did already. Says whether it did it now.
 * @throws Refusal 'conflict' for a form that was open too long or above the bound of a balance,
 * 'idempotency_mismatch' for a form that was sent with something else before
 */
export async function grantOnce(deps: Needs, wish: Wish): Promise<{ granted: boolean }> {
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
    // It is noted in the transaction that grants: what is there was granted.
    if (error instanceof Refusal && error.type === 'idempotency_in_progress') {
      return { granted: false }
    }
    throw error
  }
}

function assertFresh(once: string, now: Millis): void {
  const at = /^\d{13}\.[0-9a-z]{16}$/.test(once) ? Number(once.slice(0, 13)) : 0
  if (at >= now - dayMs && at <= now + skewMs) return
  refuse('conflict', 'The form was open for too long. Nothing was granted: open it again.')
}
