/** Remembers accounts without money whose budget of free writes is used up for the day. */
import type { Caller } from '../access/keys/key.ts'
import type { Millis } from '../kernel/clock.ts'
import { dayOf, noFreeWrites } from '../ledger/free-writes.ts'

/** Forgotten when there are more: the ledger still refuses. */
const most = 10_000

/**
 * Refuses runs of accounts without money before their bodies are read, once the ledger refused one
 * for the budget of the day: nothing but free runs is open to them.
 */
export class SpentBudgets {
  private day = 0
  private readonly accounts = new Set<string>()

  note(account: string, now: Millis): void {
    if (this.day !== dayOf(now) || this.accounts.size >= most) this.accounts.clear()
    this.day = dayOf(now)
    this.accounts.add(account)
  }

  /** @throws Refusal `rate_limited` */
  assertLeft({ account, isEmpty }: Pick<Caller, 'account' | 'isEmpty'>, now: Millis): void {
    if (!isEmpty || !this.accounts.has(account) || this.day !== dayOf(now)) return
    throw noFreeWrites(now)
  }
}
