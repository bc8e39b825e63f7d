/** Reads what is here of a plan, and takes the steps that were decided. */
import { rmSync } from 'node:fs'
import { changeKey } from '../../access/keys/change.ts'
import { issueKey, newSecret } from '../../access/keys/issue.ts'
import { maxActiveKeys } from '../../access/keys/key.ts'
import { pauseKey } from '../../access/keys/pause.ts'
import { revokeKey } from '../../access/keys/revoke.ts'
import { keysBetween, widenedKeys } from '../../access/keys/store/moved-keys.ts'
import type { Plans } from '../../access/plan.ts'
import type { openCommandServices } from '../../app/open-command-services.ts'
import { makeFile, replaceFile } from '../../config/replace-file.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { plainField, textField, toLine } from '../../kernel/csv.ts'
import { toUsd } from '../../kernel/money.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { grantOnce } from '../../ledger/grant-once.ts'
import { grantsBetween } from '../../ledger/store/grants.ts'
import {
  type ChangeStep,
  type CreateStep,
  type Present,
  raisedTo,
  type Steps,
  type StopStep,
} from './decide-moves.ts'
import { addMisfit, type Misfits } from './found.ts'
import { type MovePlan, movedIds } from './plan-moves.ts'

export type Office = Awaited<ReturnType<typeof openCommandServices>>

export async function readPresent(office: Office, plan: MovePlan): Promise<Present> {
  const { db, accounts } = office
  const moved = await keysBetween(db, ...movedIds('key'))
  const names = [...new Set(plan.owners.flatMap(({ account }) => account ?? []))]
  const rows = await Promise.all(names.map((name) => accounts.find(name)))
  return {
    keys: new Map(moved.map((row) => [row.id, row])),
    widened: await widenedKeys(db, [...new Set(moved.map(({ accountId }) => accountId))]),
    booked: await grantsBetween(db, ...movedIds('req')),
    balances: new Map(names.map((name, at) => [name, rows[at]?.balance ?? 0n])),
  }
}

/**
 * Plans whose limit of keys is too low, with the number that is needed.
 * @throws Error for an account with more keys than any may have
 */
export async function neededKeys(
  { keys, plans, accounts, clock }: Office,
  { creates }: Steps,
): Promise<Map<string, number>> {
  const now = clock.now()
  const needed = new Map<string, number>()
  for (const [account, wishes] of Map.groupBy(creates, (wish) => wish.account)) {
    const active = await keys.tree({ account }, now)
    const most = active.length + wishes.length
    if (most > maxActiveKeys) {
      const why = `${account} would have ${most} keys, and an account has at most ${maxActiveKeys}`
      throw new Error(`${why}: give users accounts of their own with --map`)
    }
    const row = await accounts.find(account)
    const own = plans.of(row ?? { plan: 'free', planUntil: null }, now)
    const known = needed.get(own.id) ?? own.limits.maxKeys
    if (most > known) needed.set(own.id, most)
  }
  return needed
}

export type Outcome = {
  granted: bigint
  created: number
  changed: number
  stopped: number
}

/** New secrets, on the disk before their keys exist. */
export type NewSecrets = {
  made: readonly NewKey[]
  /** Leaves those of some keys alone, as a whole, and no file for none. */
  keep(some: ReadonlySet<NewKey>): void
}

type NewKey = { wish: CreateStep; secret: string }

/**
 * @param clean takes secrets of the other gateway out of ids
 * @throws Error where the file is there or cannot be written; nothing is left of it then
 */
export function storeSecrets(
  office: Office,
  { creates }: Steps,
  { file, clean }: { file: string; clean(text: string): string },
): NewSecrets {
  const made = creates.map((wish) => ({ wish, secret: newSecret(office, wish.account) }))
  if (made.length > 0) makeFile(file, linesOf(made, clean))
  return {
    made,
    keep(some) {
      const kept = made.filter((one) => some.has(one))
      if (kept.length === made.length) return
      if (kept.length === 0) rmSync(file, { force: true })
      else replaceFile(file, linesOf(kept, clean))
    },
  }
}

export type Applying = {
  steps: Steps
  plans: Plans
  misfits: Misfits
  secrets: NewSecrets
}

/** Only keys that were made stay in the file of the secrets. */
export async function applyMoves(office: Office, applying: Applying): Promise<Outcome> {
  const { steps, misfits, secrets } = applying
  const outcome: Outcome = { granted: 0n, created: 0, changed: 0, stopped: 0 }
  const created = new Set<NewKey>()
  const stop = async ({ id, name, does }: Pick<StopStep, 'id' | 'name' | 'does'>) => {
    const isDone = () => (does === 'pause' ? pauseKey : revokeKey)(office, commandFor(id))
    if (await unlessRefused(isDone, name, misfits)) outcome.stopped += 1
  }
  try {
    for (const step of steps.stops) await stop(step)
    for (const step of steps.changes) {
      if (await unlessRefused(() => change(office, step), step.name, misfits)) outcome.changed += 1
      // A key that cannot be as tight as it is there is stopped.
      else await stop({ ...step, does: 'pause' })
    }
    for (const { id, source, account, amount } of steps.grants) {
      const wish = { id, source, account, amount, reason: `moved in: ${source}`, actor: 'operator' }
      const { isNew } = await grantOnce(office, wish)
      if (isNew) outcome.granted += amount
      else addMisfit(misfits, 'another import has just granted it', source)
    }
    for (const one of secrets.made) {
      const { wish, secret } = one
      const create = () => issueKey({ ...office, plans: applying.plans }, requestOf(wish, secret))
      if (await unlessRefused(create, wish.name, misfits)) created.add(one)
    }
  } finally {
    outcome.created = created.size
    try {
      secrets.keep(created)
    } catch {
      addMisfit(misfits, 'it still has rows of keys that were refused', 'the file of secrets')
    }
  }
  return outcome
}

const commandFor = (keyId: string) => ({ keyId, actor: 'operator' })

/** False where the ledger refuses a step, which the report then names. */
async function unlessRefused(
  work: () => Promise<unknown>,
  name: string,
  misfits: Misfits,
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    addMisfit(misfits, `refused here: ${error.message}`, name)
    return false
  }
}

/** A cap that its window has passed becomes what the window took. */
async function change(office: Office, { id, change: wish }: ChangeStep): Promise<void> {
  const command = commandFor(id)
  try {
    await changeKey(office, { ...command, change: wish })
  } catch (error) {
    const smallest = error instanceof Refusal ? error.detail.metadata?.['smallest_nusd'] : undefined
    if (smallest === undefined || wish.capLimit === undefined) throw error
    const capLimit = raisedTo(wish.capLimit, smallest)
    await changeKey(office, { ...command, change: { ...wish, capLimit } })
  }
}

const requestOf = (wish: CreateStep, secret: string) => ({
  ...{ id: wish.id, account: wish.account, parentId: wish.parentId, name: wish.name },
  ...{ capLimit: wish.capLimit, capWindow: wish.capWindow, expiresAt: wish.expiresAt },
  ...{ rpm: wish.rpm, concurrency: wish.concurrency, tags: wish.tags },
  ...{ models: [...wish.models], ipCidrs: [...wish.ipCidrs], secret },
  ...{ scopes: undefined, actor: 'operator' },
})

const columns = ['owner', 'kind', 'name', 'key_id', 'secret', 'account', 'cap_usd', 'expires_at']

const linesOf = (made: readonly NewKey[], clean: (text: string) => string): string =>
  [
    toLine(columns),
    ...made.map(({ wish, secret }) =>
      toLine([
        textField(clean(wish.owner)),
        plainField(wish.isParent ? 'parent' : 'key'),
        ...[textField(wish.name), plainField(wish.id), textField(secret)],
        ...[plainField(wish.account), plainField(toUsd(wish.capLimit))],
        plainField(toRfc3339(wish.expiresAt)),
      ]),
    ),
  ].join('')
