/**
 * `bun bench/pages.ts [runs] [path …]`: how long the pages of a loaded account take, from SQLite;
 * by default 10^5 runs of 500 keys over 30 days. One request at a time, from another process.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashToken, newToken } from '../src/access/accounts/session.ts'
import { issueKey } from '../src/access/keys/issue.ts'
import { keyStore } from '../src/access/keys/store.ts'
import { makePlans } from '../src/access/plan-config.ts'
import { usageCounter } from '../src/billing/usage/store/usage-counter.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { firstIdAt, makeIds } from '../src/kernel/ids.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { grantCredit } from '../src/ledger/grant.ts'
import { openLedger } from '../src/ledger/post.ts'
import { logStore } from '../src/proof/log/store.ts'
import { digestOf, factsOf } from '../src/proof/receipts/receipt.ts'
import { receiptCounter } from '../src/storage/counts/count.ts'
import { countStore } from '../src/storage/counts/store.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { migrateSqlite } from '../src/storage/db/schema/migrate.ts'
import type { KeyRow } from '../src/storage/db/schema/schema.ts'
import { insert, upsert } from '../src/storage/db/sql/query-steps.ts'
import { useWasmKeccak } from '../src/verify/fast/keccak-wasm.ts'
import { endedRun } from './ended-run.ts'
import { start, usageOf } from './processes.ts'
import { insertEnded, numberEnded } from './stored-runs.ts'

const count = Number(Bun.argv[2] ?? 100_000)
const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const rootKeys = 50
const keysBelowEach = 9
const requests = 400
const dayMs = 86_400_000

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-pages-'))
const db = openSqlite(join(folder, 'counterfoil.db'))
migrateSqlite(db.raw, systemClock.now(), () => {})
const clock = systemClock
const random = systemRandom()
const ids = makeIds(clock, random)
const port = 20_000 + (process.pid % 20_000)
const origin = `http://localhost:${port}`
const cookie = `sid=${newToken(random)}`

useWasmKeccak()
const keys = await makeKeys()
const middle = await writeRuns(keys)
await openSession()
await db.close()

const server = await start({
  command: ['bun', 'src/main.ts', 'serve', '--data', folder, '--listen', `127.0.0.1:${port}`],
  env: { COUNTERFOIL_BASE_URL: origin },
  ready: /listening/,
})
try {
  const given = Bun.argv.slice(3)
  for (const path of given.length > 0 ? given : pathsOf()) await measure(path)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}

/** The pages by their address, with the filters that have the most to go through. */
function pathsOf(): string[] {
  const runs = '/dashboard/runs'
  return [
    '/dashboard',
    runs,
    `${runs}?after=${middle}`,
    `${runs}?status=failed`,
    `${runs}?status=cancelled`,
    `${runs}?tag=team:unknown`,
    `${runs}?key=${keys[7]?.id}`,
    `${runs}?from=2026-01-01&status=failed`,
    `${runs}/${middle}`,
    '/api/portal/runs?limit=100',
    '/dashboard/sessions',
    '/dashboard/keys',
    '/dashboard/receipts',
    '/dashboard/usage',
    '/dashboard/console',
  ]
}

async function measure(path: string): Promise<void> {
  const get = () => fetch(origin + path, { headers: { cookie, accept: 'text/html' } })
  const { status } = await get()
  if (status !== 200) {
    console.log(`${path}: ${status}`)
    return
  }
  let bytes = 0
  for (let i = 0; i < 20; i++) bytes = (await (await get()).arrayBuffer()).byteLength
  const before = usageOf(server.pid).cpuUs
  const times: number[] = []
  for (let i = 0; i < requests; i++) {
    const asked = performance.now()
    await (await get()).arrayBuffer()
    times.push(performance.now() - asked)
  }
  const cpuMs = (usageOf(server.pid).cpuUs - before) / requests / 1000
  times.sort((a, b) => a - b)
  const at = (share: number) => (times[Math.floor(requests * share)] ?? 0).toFixed(1).padStart(6)
  console.log(
    `${at(0.5)} ms ${at(0.99)} ms (p99) ${cpuMs.toFixed(1).padStart(6)} ms CPU ` +
      `${(bytes / 1024).toFixed(0).padStart(4)} KiB  ${path.slice(0, 60)}`,
  )
}

/** Keys in trees, each with something spent. */
async function makeKeys(): Promise<KeyRow[]> {
  const ledger = openLedger(db, clock)
  const limits = { rpm: 6000, concurrency: 1024 }
  const plans = makePlans([{ id: 'free', limits: { max_keys: 500 } }], limits)
  const deps = { ledger, ids, random, plans, keys: keyStore(db, clock, plans) }
  const credit = 1_000_000_000_000n
  await grantCredit(deps, { account, amount: credit, reason: 'bench', actor: 'bench' })
  const made: KeyRow[] = []
  const issue = async (name: string, parent?: KeyRow): Promise<KeyRow> => {
    const wish = { account, name, capLimit: 50_000_000_000n, capWindow: 'lifetime' } as const
    const below = parent ? { parentId: parent.id } : {}
    const { key } = await issueKey(deps, { ...wish, ...below, actor: 'bench' })
    made.push(key)
    return key
  }
  for (let root = 0; root < rootKeys; root++) {
    const parent = await issue(`fleet-${root}`)
    for (let i = 0; i < keysBelowEach; i++) await issue(`crawler-${root}-${i}`, parent)
  }
  const windows = made.map(({ id: keyId, capLimit: limit }, i) => {
    return { keyId, windowStart: 0, limit, spent: BigInt(i) * 85_000_000n, held: 0n, told: null }
  })
  await db.write(() => upsert(db.tables.keyWindows, windows, ['spent']))
  return made
}

/** Ended runs of 30 days, numbered and counted. Returns the id of the one in the middle. */
async function writeRuns(keys: KeyRow[]): Promise<string> {
  const begun = clock.now() - 30 * dayMs
  let middle = ''
  for (let at = 0; at < count; at += 1000) {
    const batch = Array.from({ length: Math.min(1000, count - at) }, (_, i) => {
      const time = Math.floor(begun + ((at + i) / count) * 30 * dayMs)
      const id = firstIdAt('run', time) + ids.make('run').slice(-16)
      const key = keys[(at + i * 7) % keys.length]
      if (!key) throw new Error('there is no key')
      const run = endedRun({
        id,
        issuer: origin,
        account,
        keyId: key.id,
        finishedAt: time,
        index: at + i,
      })
      const failed = { status: 'failed', outcome: 'failed' } as const
      const ended = (at + i) % 1000 === 0 ? { ...run, ...failed } : run
      return { ...ended, digest: digestOf(factsOf({ ...ended, finishedAt: time })) }
    })
    if (at <= count / 2) middle = batch[0]?.id ?? ''
    await db.write(() => insertEnded(db, batch))
  }
  await numberEnded(db, logStore(db, { clock, node: 'bench', start: 0 }))
  const counts = countStore(db, { clock, node: 'bench' }, [usageCounter(db)])
  const countSome = receiptCounter({ counts, clock })
  while (await counts.waits()) await countSome()
  return middle
}

async function openSession(): Promise<void> {
  const now = clock.now()
  const session = {
    id: ids.make('sess'),
    tokenHash: hashToken(cookie.slice('sid='.length)),
    accountId: account,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: now + 7 * dayMs,
    userAgent: 'bench',
    clientAddress: '127.0.0.1',
    memberId: null,
  }
  await db.write(() => insert(db.tables.sessions, [session]))
}
