/** The operator's account that pays for the terminal; the cap of its key is the daily budget. */

import { sponsorAccount } from '../../access/accounts/account.ts'
import { changeKey } from '../../access/keys/change.ts'
import { issueKey } from '../../access/keys/issue.ts'
import { type Caller, statusOf } from '../../access/keys/key.ts'
import { revokeKey } from '../../access/keys/revoke.ts'
import type { ShownKey } from '../../access/keys/shown-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { max, min, type Nusd } from '../../kernel/money.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'
import type { Model } from '../../models/model.ts'
import { isFree } from '../../models/rates.ts'
import { dearestPrices } from '../../models/step-prices.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { nextDay, untilNextDay } from './allowance.ts'

/** Smallest cap of a key; without a budget only free models run. */
const leastCap: Nusd = 1n

/** Whether the sponsor can pay for a model: it is free, or there is a budget. */
export const isAffordable = ({ settings }: Pick<Deps, 'settings'>, model: Model): boolean =>
  isFree(dearestPrices(model)) || settings.terminal.dailyBudgetNusd > 0n

/**
 * The sponsor as a caller. Creates its key at first use and when it is gone, applies the configured
 * cap, and fills its balance once a day.
 */
export async function sponsorCaller(deps: Deps): Promise<Caller> {
  const now = deps.clock.now()
  const { chain, key } = await keyOf(deps, now)
  if (deps.settings.terminal.dailyBudgetNusd > 0n) await topUp(deps, now)
  deps.keys.noteUse(key.id, now)
  const row = await deps.accounts.find(sponsorAccount)
  if (!row) throw new Error('the sponsor has a key and no account')
  const plan = deps.plans.of(row, now)
  return { account: sponsorAccount, suspended: row.status === 'suspended', plan, chain, key }
}

/**
 * The refusal a visitor sees when the sponsor cannot pay: the reset time, but no amounts.
 */
export async function asVisitorReads(deps: Deps, error: unknown): Promise<unknown> {
  if (!(error instanceof Refusal)) return error
  if (error.type !== 'cap_exceeded' && error.type !== 'insufficient_balance') return error
  const now = deps.clock.now()
  const keyId = await deps.console.keyOf({ account: sponsorAccount })
  const found = keyId === undefined ? undefined : await deps.keys.show(keyId, now)
  if (found && isOnlyHeld(found, error)) {
    return new Refusal('unavailable', {
      message: "Other asks hold the rest of today's budget. Try again in a few seconds.",
      headers: retryHeaders(2000),
    })
  }
  const resetsAt = toRfc3339(nextDay(now))
  return new Refusal('unavailable', {
    message:
      `The terminal has used its budget of today. It resets at ${resetsAt}; ` +
      'free models are available until then.',
    metadata: { resets_at: resetsAt },
    headers: { ...untilNextDay(now), 'x-should-retry': 'false' },
  })
}

/** Whether there would be enough if all live runs released their holds. */
function isOnlyHeld({ key, window }: ShownKey, { detail }: Refusal): boolean {
  const required = Number(detail.metadata?.['required_nusd'])
  return window !== undefined && window.held > 0n && key.capLimit - window.spent >= required
}

async function keyOf(deps: Deps, now: Millis): Promise<ShownKey> {
  const keyId = await deps.console.keyOf({ account: sponsorAccount })
  const found = keyId === undefined ? undefined : await deps.keys.show(keyId, now)
  const state = found && statusOf(found.chain, now)
  if (!found || state === 'expired' || state === 'revoked') return openKey(deps, now, found?.key)
  const cap = capOf(deps)
  if (found.key.capLimit === cap) return found
  await changeCap(deps, found, cap)
  return (await deps.keys.show(found.key.id, now)) ?? found
}

const capOf = ({ settings }: Deps): Nusd => max(settings.terminal.dailyBudgetNusd, leastCap)

/** Sets the cap to the budget, or to the amount already spent and held if that is more. */
async function changeCap(deps: Deps, { key, window }: ShownKey, cap: Nusd): Promise<void> {
  const gone = (window?.spent ?? 0n) + (window?.held ?? 0n)
  const capLimit = max(cap, min(gone, key.capLimit))
  try {
    await changeKey(deps, { keyId: key.id, actor: 'terminal', change: { capLimit } })
  } catch (error) {
    // More was held meanwhile: the cap stays until a later ask.
    if (!(error instanceof Refusal) || error.type !== 'conflict') throw error
  }
}

/** Creates the key. The loser of a race revokes its own key and uses the winner's. */
async function openKey(deps: Deps, now: Millis, before: KeyRow | undefined): Promise<ShownKey> {
  const actor = 'terminal'
  const { key } = await issueKey(deps, {
    account: sponsorAccount,
    actor,
    name: 'Terminal',
    capLimit: capOf(deps),
    capWindow: 'day',
    scopes: ['runs:write'],
  })
  if (!(await deps.console.replaceKey({ account: sponsorAccount }, before?.id, key.id))) {
    await revokeKey(deps, { keyId: key.id, actor })
  }
  const keyId = await deps.console.keyOf({ account: sponsorAccount })
  const shown = keyId === undefined ? undefined : await deps.keys.show(keyId, now)
  return shown ?? refuse('unavailable', 'The terminal is starting. Try again.')
}

/**
 * Fills the sponsor's balance up to the budget from the ledger's side `terminal`, once per day and
 * budget across all nodes: a replaced key with its fresh cap cannot spend the budget twice.
 */
async function topUp(deps: Deps, now: Millis): Promise<void> {
  const budget = deps.settings.terminal.dailyBudgetNusd
  const ref = `terminal/${toRfc3339(now).slice(0, 10)}/${budget}`
  if (!(await deps.terminal.isGranted(sponsorAccount, ref))) {
    try {
      await fill(deps, budget, ref)
    } catch (error) {
      // Another node was first.
      if (!(await deps.terminal.isGranted(sponsorAccount, ref))) throw error
    }
  }
  deps.terminal.noteGrant(sponsorAccount, ref)
}

const fill = ({ ledger }: Deps, budget: Nusd, ref: string): Promise<void> =>
  ledger.post({
    isExempt: true,
    account: sponsorAccount,
    opens: true,
    keys: [],
    decide(unit) {
      const account = unit.account(sponsorAccount)
      const amount = account ? budget - account.balance : 0n
      if (!account || amount <= 0n) return
      account.balance += amount
      unit.changed('account', account)
      unit.addTransfer({
        accountId: sponsorAccount,
        ref,
        kind: 'grant',
        source: 'terminal',
        target: 'user',
        amount,
        at: unit.now,
      })
    },
  })
