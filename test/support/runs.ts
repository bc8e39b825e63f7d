import { expect } from 'bun:test'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { isEnded } from '../../src/proof/receipts/receipt.ts'
import { runColumns } from '../../src/storage/db/schema/run-columns.ts'
import type { EndedRun, RunRow } from '../../src/storage/db/schema/schema.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { toRunRow } from '../../src/storage/holds/open-runs.ts'
import type { World } from './world.ts'

/** The price of a token of {@link modelsToml}, in nano-USD: big enough to tell tokens apart. */
export const inputPrice = 1_000n
export const outputPrice = 2_000n

/** An upstream that fails again and again for a test goes on being asked. */
export const neverOpens = 'breaker_failures = 0'

/** A configuration of chat models `stub/<name>`, each of them `<name>` at the upstream `stub`. */
export const modelsToml = (url: string, names: string[], upstream = neverOpens): string =>
  upstreamToml('stub', url, upstream) +
  names.map((name) => modelToml(`stub/${name}`, `"stub:${name}"`)).join('')

export const upstreamToml = (id: string, url: string, more = neverOpens): string =>
  `[[upstreams]]\nid = "${id}"\nbase_url = "${url}"\n${more}\n`

export const modelToml = (id: string, route: string, more = ''): string => `[[models]]
id = "${id}"
route = [${route}]
kind = "chat"
context_tokens = 10000
max_output_tokens = 1000
input_pusd = 1_000_000
output_pusd = 2_000_000
${more}
`

export const embeddingToml = (id: string, route: string): string => `[[models]]
id = "${id}"
route = [${route}]
kind = "embedding"
context_tokens = 10000
input_pusd = 1_000_000
`

/** Built-in models with a price: `echo-1` costs 150,000 and 600,000 pico-USD a token. */
export const pricedBuiltins = `[[models]]
id = "counterfoil/echo-1"
input_pusd = 150_000
output_pusd = 600_000
[[models]]
id = "counterfoil/embed-1"
input_pusd = 20_000
`

/** Waits until `check` gives something, at most `ms` milliseconds. */
export async function until<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  ms = 5000,
): Promise<T> {
  const end = performance.now() + ms
  for (;;) {
    const found = await check()
    if (found !== undefined && found !== false) return found
    if (performance.now() > end) throw new Error(`waited ${ms} ms for ${what}`)
    await Bun.sleep(5)
  }
}

export type Money = { balance_nusd: number; held_nusd: number; available_nusd: number }

export const moneyOf = async (w: World, key: string): Promise<Money> =>
  await (await w.call('/v1/balance', { key })).json()

/** The ended runs and the open ones, also those that are in memory alone, oldest first. */
export const allRuns = ({ db }: Pick<World, 'db'>): Promise<RunRow[]> =>
  db.read(function* (q) {
    const { runs, openRuns } = db.tables
    const stored = (yield* rows(q.select().from(openRuns))).map(toRunRow)
    const ended: RunRow[] = yield* rows(q.select(runColumns(db)).from(runs))
    return [...db.open.all(), ...stored, ...ended].sort((a, b) => (a.id < b.id ? -1 : 1))
  })

/** The receipt that a run names to a key that may see it. */
export const receiptIdOf = async (w: World, key: string, runId: string): Promise<string | null> =>
  (await (await w.call(`/v1/runs/${runId}`, { key })).json()).receipt_id

export const lastRun = async (w: Pick<World, 'db'>): Promise<RunRow> => {
  const run = (await allRuns(w)).at(-1)
  if (!run) throw new Error('there is no run')
  return run
}

/** The last run, which has ended. */
export const lastEnded = async (w: Pick<World, 'db'>): Promise<EndedRun> => {
  const run = await lastRun(w)
  if (!isEnded(run)) throw new Error('the last run goes on')
  return run
}

/** No run is in flight, no hold remains, and every balance follows from its journal. */
export async function expectSettled(w: World): Promise<void> {
  await until('the runs in flight', () => w.deps.live.count() === 0)
  const { accounts, keyWindows } = w.db.tables
  const held = await w.db.read(function* (q) {
    const ofAccounts = yield* rows(q.select({ held: accounts.held }).from(accounts))
    return [...ofAccounts, ...(yield* rows(q.select({ held: keyWindows.held }).from(keyWindows)))]
  })
  expect(held.every((row) => row.held === 0n)).toBe(true)
  const runs = await allRuns(w)
  expect(runs.filter((run) => run.finishedAt === null)).toEqual([])
  expect(runs.filter((run) => run.cost > run.hold || run.cost < 0n)).toEqual([])
  expect(await auditStore(w.db).whole(w.deps.clock.now())).toEqual([])
}

/** Everything this service wrote down, as text: all tables and all of the log. */
export async function everythingWritten(w: World): Promise<string> {
  const tables = Object.values(w.db.tables)
  const stored = await w.db.read(function* (q) {
    const all: unknown[] = []
    for (const table of tables) all.push(yield* rows(q.select().from(table)))
    return all
  })
  const toText = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return value.toString()
    if (value instanceof Error) return [value.message, value.stack, { ...value }]
    return value
  }
  return JSON.stringify([stored, w.logged], toText)
}

/** The data of the events of a stream. */
export const eventsOf = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => frame.slice(6))

/** Reads the first bytes of a stream now, and all of it when asked for. */
export async function afterFirst(answer: Promise<Response>) {
  const { body } = await answer
  if (!body) throw new Error('the answer has no body')
  const reader = body.getReader()
  const first = await reader.read()
  const decoder = new TextDecoder()
  return {
    async rest(): Promise<string> {
      let text = decoder.decode(first.value)
      for (;;) {
        const next = await reader.read()
        if (next.value === undefined) return text
        text += decoder.decode(next.value)
      }
    },
  }
}

/** One chunk of an OpenAI stream as an upstream writes it. */
export const chunkOf = (delta: object, reason: string | null = null, index = 0): string =>
  frameOf({
    id: 'chatcmpl-stub',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'any',
    choices: [{ index, delta, finish_reason: reason }],
  })

export const frameOf = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
