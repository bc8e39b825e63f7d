import { changeKey } from '../../access/keys/change.ts'
import { issueKey } from '../../access/keys/issue.ts'
import { type Caller, statusOf } from '../../access/keys/key.ts'
import { revokeKey } from '../../access/keys/revoke.ts'
import type { ShownKey } from '../../access/keys/shown-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { max, min, type Nusd } from '../../kernel/money.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import type { Model } from '../../models/model.ts'
import type { KeyRow } from '../../storage/db/schema.ts'
import { nextDay, untilNextDay } from './allowance.ts'

/**
 * Who pays for the terminal: an account of the operator with a key of its own, whose cap a day is
 * the budget. Its money comes from the ledger's side `terminal`, as much a day as the budget.
 */
export type HouseDeps = Pick<
  Deps,
  | 'accounts'
  | 'clock'
  | 'console'
  | 'ids'
  | 'keys'
  | 'ledger'
  | 'plans'
  | 'random'
  | 'settings'
  | 'terminal'
>

/**
 * The first 20 bytes of SHA-256("counterfoil terminal"). No key is known that signs for it, and
 * finding one is as hard as for any other address: nobody can sign in as the house.
 */
export const houseAccount = '0x17abdb3907ee6d71525714b1a66576d4c7906d7f'

/** A key has a cap of at least this; without a budget nothing that costs is begun at all. */
const leastCap: Nusd = 1n

/** A model that the terminal can pay for: free, or there is a budget. */
export const isAffordable = ({ settings }: Pick<HouseDeps, 'settings'>, model: Model): boolean =>
  isFree(model) || settings.terminal.dailyBudgetNusd > 0n

const isFree = ({ prices: { inputPusd, outputPusd, requestNusd } }: Model): boolean =>
  inputPusd === 0n && outputPusd === 0n && requestNusd === 0n

/**
 * The house as a caller of the engine: its key made at first use, made anew when it is gone, with
 * the cap of the configuration, and its balance filled up once a day.
 */
export async function houseCaller(deps: HouseDeps): Promise<Caller> {
  const now = deps.clock.now()
  const { chain, key } = await keyOf(deps, now)
  if (deps.settings.terminal.dailyBudgetNusd > 0n) await topUp(deps, now)
  deps.keys.noteUse(key.id, now)
  const row = await deps.accounts.find(houseAccount)
  if (!row) throw new Error('the house has a key and no account')
  const plan = deps.plans.of(row, now)
  return { account: houseAccount, suspended: row.status === 'suspended', plan, chain, key }
}

/**
 * What a visitor is told where the house could not pay: when there is money again, and never how
 * much there was.
 */
export async function asVisitorReads(deps: HouseDeps, error: unknown): Promise<unknown> {
  if (!(error instanceof Refusal)) return error
  if (error.type !== 'cap_exceeded' && error.type !== 'insufficient_balance') return error
  const now = deps.clock.now()
  const keyId = await deps.console.keyOf(houseAccount)
  const found = keyId === undefined ? undefined : await deps.keys.show(keyId, now)
  if (found && isOnlyHeld(found, error)) {
    return new Refusal('unavailable', {
      message: 'Other asks hold what is left of the day. Try again in a few seconds.',
      headers: { 'retry-after': '2', 'retry-after-ms': '2000' },
    })
  }
  const resetsAt = toRfc3339(nextDay(now))
  return new Refusal('unavailable', {
    message:
      `What the terminal may spend today is used up. It starts anew at ${resetsAt}; ` +
      'models that are free answer until then.',
    metadata: { resets_at: resetsAt },
    headers: { ...untilNextDay(now), 'x-should-retry': 'false' },
  })
}

/** Whether there would be enough if what runs in flight hold came back whole. */
function isOnlyHeld({ key, window }: ShownKey, { detail }: Refusal): boolean {
  const required = Number(detail.metadata?.['required_nusd'])
  return window !== undefined && window.held > 0n && key.capLimit - window.spent >= required
}

async function keyOf(deps: HouseDeps, now: Millis): Promise<ShownKey> {
  const keyId = await deps.console.keyOf(houseAccount)
  const found = keyId === undefined ? undefined : await deps.keys.show(keyId, now)
  const state = found && statusOf(found.chain, now)
  if (!found || state === 'expired' || state === 'revoked') return openKey(deps, now, found?.key)
  const cap = capOf(deps)
  if (found.key.capLimit === cap) return found
  await changeCap(deps, found, cap)
  return (await deps.keys.show(found.key.id, now)) ?? found
}

const capOf = ({ settings }: HouseDeps): Nusd => max(settings.terminal.dailyBudgetNusd, leastCap)

/** To the budget, or where more of an earlier one is gone already, to what is gone. */
async function changeCap(deps: HouseDeps, { key, window }: ShownKey, cap: Nusd): Promise<void> {
  const gone = (window?.spent ?? 0n) + (window?.held ?? 0n)
  const capLimit = max(cap, min(gone, key.capLimit))
  try {
    await changeKey(deps, { keyId: key.id, actor: 'terminal', change: { capLimit } })
  } catch (error) {
    // More was held meanwhile: the cap stays until the next ask finds less.
    if (!(error instanceof Refusal) || error.type !== 'conflict') throw error
  }
}

/** Makes the key; whoever loses the race for its place revokes theirs and takes the winner's. */
async function openKey(
  deps: HouseDeps,
  now: Millis,
  before: KeyRow | undefined,
): Promise<ShownKey> {
  const actor = 'terminal'
  const { key } = await issueKey(deps, {
    account: houseAccount,
    actor,
    name: 'Terminal',
    capLimit: capOf(deps),
    capWindow: 'day',
    scopes: ['runs:write'],
  })
  if (!(await deps.console.replaceKey(houseAccount, before?.id, key.id))) {
    await revokeKey(deps, { keyId: key.id, actor })
  }
  const keyId = await deps.console.keyOf(houseAccount)
  const shown = keyId === undefined ? undefined : await deps.keys.show(keyId, now)
  return shown ?? refuse('unavailable', 'The terminal is just being made ready. Try again.')
}

/**
 * Fills the house's balance up to the budget, once for each day and budget on all nodes: a cap
 * that was made anew with its key cannot spend the day's money twice.
 */
async function topUp(deps: HouseDeps, now: Millis): Promise<void> {
  const budget = deps.settings.terminal.dailyBudgetNusd
  const ref = `terminal/${toRfc3339(now).slice(0, 10)}/${budget}`
  if (!(await deps.terminal.isGranted(houseAccount, ref))) {
    try {
      await fill(deps, budget, ref)
    } catch (error) {
      // Another node was quicker.
      if (!(await deps.terminal.isGranted(houseAccount, ref))) throw error
    }
  }
}

const fill = ({ ledger }: HouseDeps, budget: Nusd, ref: string): Promise<void> =>
  ledger.post({
    account: houseAccount,
    opens: true,
    keys: [],
    decide(unit) {
      const account = unit.account(houseAccount)
      const amount = account ? budget - account.balance : 0n
      if (!account || amount <= 0n) return
      account.balance += amount
      unit.changed('account', account)
      unit.addTransfer({
        accountId: houseAccount,
        ref,
        kind: 'grant',
        source: 'terminal',
        target: 'user',
        amount,
        at: unit.now,
      })
    },
  })
