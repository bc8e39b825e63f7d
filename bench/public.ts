/**
 * `bun bench/public.ts [receipts]`: what keyless reads cost at 10^6 receipts, from SQLite. Each is
 * asked of the service in this process, one at a time, and its CPU is read from the exact counters;
 * the figures are read again each time. Then how SQLite finds what it is asked for.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../src/app/routes.ts'
import { makeDeps } from '../src/app/wiring.ts'
import { loadConfig } from '../src/config/config.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { toHex } from '../src/kernel/hex.ts'
import { firstIdAt } from '../src/kernel/ids.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { digestOf, factsOf, receiptIdOf } from '../src/proof/receipts/receipt.ts'
import { signerFromHex } from '../src/proof/signer/signer.ts'
import { receiptCounter } from '../src/storage/counts/count.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { migrateSqlite } from '../src/storage/db/schema/migrate.ts'
import type { AnchorRow, EndedRun, ShareRow } from '../src/storage/db/schema/schema.ts'
import { insert } from '../src/storage/db/sql/query-steps.ts'
import { moveFigures } from '../src/storage/figures/store.ts'
import { useWasmKeccak } from '../src/verify/fast/keccak-wasm.ts'
import { wholeApp } from '../src/web/http/lazy-mount.ts'
import { endedRun } from './ended-run.ts'
import { insertEnded, numberEnded } from './stored-runs.ts'

const count = Number(Bun.argv[2] ?? 1_000_000)
/** Every n-th receipt is public. */
const publicEvery = 50
const anchorsMade = 4000
const requests = 200
const spanMs = 90 * 86_400_000
/** The first well-known test account, which everybody has the key of. */
const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const testKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-public-'))
const db = openSqlite(join(folder, 'counterfoil.db'))
migrateSqlite(db.raw, systemClock.now(), () => {})
useWasmKeccak()
let leapMs = 0
const clock = { now: () => Date.now() + leapMs, monotonic: () => performance.now() }
const quiet = () => {}
const log = { debug: quiet, info: quiet, warn: console.warn, error: console.error }
const deps = await makeDeps({ config: configOf(), db, signer: signerFromHex(testKey), log, clock })
const app = await wholeApp(createApp(deps))
try {
  const named = await fill()
  for (const path of pathsOf(named)) await measure(path)
  await tellPlans(pathsOf(named))
} finally {
  await deps.sequencer.stop()
  await db.close()
  rmSync(folder, { recursive: true })
}

function configOf() {
  const inputs = { flags: {}, env: {}, filePath: 'bench.toml', readFile: () => undefined }
  const loaded = loadConfig({ ...inputs, fileText: '' })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}

type Named = { id: string; digest: string; root: string; middle: number }

function pathsOf({ id, digest, root, middle }: Named): string[] {
  return [
    `/v1/receipts/${id}`,
    `/v1/receipts/${id}/proof`,
    '/v1/anchors',
    '/v1/status',
    '/v1/models',
    ...['24h', '7d', '30d', 'all'].map((window) => `/v1/explorer/stats?window=${window}`),
    '/v1/explorer/recent',
    '/v1/explorer/recent?limit=100',
    `/v1/explorer/recent?limit=100&after=${middle}`,
    '/v1/explorer/recent?type=anchor&limit=100',
    '/v1/explorer/recent?type=passport&limit=100',
    '/explorer',
    `/explorer?after=${middle}`,
    ...[digest, root, String(middle), '@no-such-handle', account].map((q) => {
      return `/explorer?q=${encodeURIComponent(q)}`
    }),
  ]
}

async function ask(path: string): Promise<Response> {
  const host = new URL(deps.settings.baseUrl).host
  return app.handle(new Request(deps.settings.baseUrl + path, { headers: { host } }))
}

async function measure(path: string): Promise<void> {
  const { status } = await ask(path)
  for (let i = 0; i < 20; i++) await (await ask(path)).arrayBuffer()
  Bun.gc(true)
  const costs: number[] = []
  for (let i = 0; i < requests; i++) {
    // What was remembered of the figures is old each time.
    if (path.includes('explorer')) leapMs += 10_001
    const before = process.cpuUsage()
    await (await ask(path)).arrayBuffer()
    const { user, system } = process.cpuUsage(before)
    costs.push((user + system) / 1000)
  }
  costs.sort((a, b) => a - b)
  const at = (share: number) => (costs[Math.floor(requests * share)] ?? 0).toFixed(2).padStart(6)
  console.log(`${at(0.5)} ms ${at(0.99)} ms (p99) CPU  ${status}  ${path.slice(0, 70)}`)
}

/** How SQLite finds what these ask for: no line may say that it goes through a whole table. */
async function tellPlans(paths: readonly string[]): Promise<void> {
  const texts = new Set<string>()
  const prepare = db.raw.prepare.bind(db.raw)
  db.raw.prepare = ((text: string, ...rest: []) => {
    texts.add(text)
    return prepare(text, ...rest)
  }) as typeof db.raw.prepare
  leapMs += 10_001
  for (const path of paths) await (await ask(path)).arrayBuffer()
  db.raw.prepare = prepare
  const lines = new Set<string>()
  for (const text of texts) {
    if (!/^\s*select/i.test(text)) continue
    const plan = db.raw.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all()
    for (const { detail } of plan) lines.add(detail)
  }
  console.log([...lines].sort().join('\n'))
}

/** Receipts of 90 days, numbered and counted; some of them public; and anchors of the log. */
async function fill(): Promise<Named> {
  const begun = clock.now() - spanMs
  let last: EndedRun | undefined
  for (let at = 0; at < count; at += 1000) {
    const batch = Array.from({ length: Math.min(1000, count - at) }, (_, i) => {
      const finishedAt = Math.floor(begun + ((at + i) / count) * spanMs)
      const id = firstIdAt('run', finishedAt) + deps.ids.make('run').slice(-16)
      const { issuer } = deps.settings
      const run = endedRun({ id, issuer, account, keyId: 'key_1', finishedAt, index: at + i })
      return { ...run, digest: digestOf(factsOf(run)) }
    })
    const shown = batch.filter((_, i) => i % publicEvery === 0)
    last = shown.at(-1) ?? last
    await db.write(function* (q) {
      yield* insertEnded(db, batch)
      yield* insert(db.tables.shares, shown.map(toShare))
      for (const run of shown) {
        yield* moveFigures(q, db.tables, { run, from: undefined, to: toShare(run) })
      }
    })
  }
  await numberEnded(db, deps.logStore)
  const tick = receiptCounter(deps)
  while (await deps.counts.waits()) await tick()
  const anchors = await addAnchors(await deps.logStore.size())
  if (!last) throw new Error('nothing is public')
  return {
    id: receiptIdOf(last.id),
    digest: toHex(last.digest),
    root: toHex(anchors.at(0)?.root ?? new Uint8Array()),
    middle: Math.floor(count / 2),
  }
}

function toShare(run: EndedRun): ShareRow {
  return {
    receiptId: receiptIdOf(run.id),
    accountId: run.accountId,
    visibility: 'public',
    sections: ['run', 'charge', 'passport'],
    revealed: {},
    digest: run.digest,
    createdAt: run.createdAt,
    updatedAt: run.createdAt,
  }
}

async function addAnchors(size: number): Promise<AnchorRow[]> {
  const random = systemRandom()
  const sizeAt = (i: number) => Math.floor((size * (i + 1)) / anchorsMade)
  const made = Array.from({ length: anchorsMade }, (_, i): AnchorRow => {
    return {
      id: deps.ids.make('anc'),
      issuer: deps.settings.issuer,
      size: sizeAt(i),
      prevSize: sizeAt(i - 1),
      root: random.bytes(32),
      status: 'final',
      createdAt: clock.now(),
      nonce: i,
      submittedAt: clock.now(),
      txHash: toHex(random.bytes(32)),
      blockNumber: i,
      blockHash: toHex(random.bytes(32)),
      blockTime: clock.now(),
      finalizedAt: clock.now(),
      error: null,
    }
  })
  await db.write(() => insert(db.tables.anchors, made))
  return made
}
