/** Plans and steps of made-up rows, for tests of what an import decides. */
import { expect } from 'bun:test'
import { noLimits, withLimits } from '../../../src/access/keys/key-limits.ts'
import { decideMoves, type Present, type Steps } from '../../../src/cli/move-in/decide-moves.ts'
import type { SourceContents } from '../../../src/cli/move-in/found.ts'
import { readLitellmKeys } from '../../../src/cli/move-in/litellm-keys.ts'
import { readOneApi } from '../../../src/cli/move-in/one-api.ts'
import { type MovePlan, type MoveWish, planMoves } from '../../../src/cli/move-in/plan-moves.ts'
import { rowsIn, type Tables } from '../../../src/cli/move-in/tables.ts'
import { parseExactJson } from '../../../src/kernel/exact-json.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { tokenOf } from './fixtures.ts'

export const account = `0x${'a1'.repeat(20)}`
export const now = 1_790_000_000_000
export const usd = 1_000_000_000n

export const tablesOf = (rows: Record<string, object[]>): Tables =>
  new Map(
    Object.entries(rows).map(([name, list]) => [
      name,
      rowsIn(parseExactJson(JSON.stringify(list))),
    ]),
  )

export const litellm = (rows: Record<string, object[]>) => readLitellmKeys(tablesOf(rows), now)
export const key = (n: number, more: object = {}) => ({
  token: tokenOf(n),
  key_alias: `k${n}`,
  ...more,
})
/** A channel that all users of a group without a name of its own may use. */
export const channel = {
  ...{ id: 1, type: 1, key: 'sk-a', status: 1, models: 'cheap', group: 'default' },
}
/** Users and tokens of new-api. */
export const newApi = (rows: Record<string, object[]>) =>
  readOneApi(tablesOf({ channels: [channel], options: [], ...rows }), 'new-api', now)
export const only = (...keys: object[]) => litellm({ LiteLLM_VerificationToken: keys })

export const planOf = (found: SourceContents, more: Partial<MoveWish> = {}): MovePlan =>
  planMoves(found, {
    ...{ as: 'litellm', isSeparate: false, newOwners: new Set(), aliases: {}, now },
    accountOf: () => account,
    ...more,
  })

export const nothing: Present = {
  ...{ keys: new Map(), booked: new Map(), balances: new Map(), widened: new Map() },
}

const rowOf = (wish: Steps['creates'][number], above: KeyRow | undefined): KeyRow => ({
  ...{ id: wish.id, name: wish.name, accountId: wish.account, parentId: wish.parentId ?? null },
  ...{ lineage: [wish.id, ...(above?.lineage ?? [])], tags: wish.tags, capLimit: wish.capLimit },
  ...{ capWindow: wish.capWindow, expiresAt: wish.expiresAt, ...withLimits(noLimits, wish) },
  models: wish.models.length > 0 ? [...wish.models] : [...(above?.models ?? [])],
  ...{ ipCidrs: [...wish.ipCidrs], branch: null, fingerprint: '', secretBy: 'operator' },
  ...{ scopes: [], passport: '', childrenCount: 0, createdAt: now, pausedAt: null },
  ...{ pausedReason: null, leakAnsweredAt: null, revokedAt: null, revokedBy: null },
  lastUsedAt: null,
})

/** The things that are here after steps, as a later run finds them. */
export function applied(steps: Steps, before: Present): Present {
  const keys = new Map(before.keys)
  const booked = new Map(before.booked)
  const set = (id: string, more: Partial<KeyRow>) =>
    keys.set(id, { ...(keys.get(id) as KeyRow), ...more })
  for (const { id, does } of steps.stops) {
    set(id, does === 'pause' ? { pausedAt: now } : { revokedAt: now })
  }
  for (const { id, change } of steps.changes) set(id, change as Partial<KeyRow>)
  for (const { id, amount, account: at, source } of steps.grants) {
    expect(booked.has(id)).toBe(false)
    booked.set(id, { account: at, amount, source })
  }
  for (const wish of steps.creates) {
    expect(keys.has(wish.id)).toBe(false)
    expect(wish.parentId === undefined || keys.has(wish.parentId)).toBe(true)
    keys.set(wish.id, rowOf(wish, keys.get(wish.parentId ?? '')))
  }
  return { ...before, keys, booked }
}

export const firstRun = (found: SourceContents, more: Partial<MoveWish> = {}) => {
  const plan = planOf(found, more)
  const steps = decideMoves(plan, nothing, found.misfits)
  return { plan, steps, present: applied(steps, nothing) }
}

export const secondRun = (
  found: SourceContents,
  present: Present,
  more: Partial<MoveWish> = {},
) => ({
  steps: decideMoves(planOf(found, more), present, found.misfits),
  why: [...found.misfits.keys()].join('; '),
})

export const named = ({ steps }: { steps: Steps }, name: string) =>
  steps.creates.find((one) => one.name === name)
