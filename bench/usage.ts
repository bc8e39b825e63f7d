/**
 * `bun bench/usage.ts [receipts]`: counting and exporting a large log (10^6 receipts, half of them
 * another account's) through a server of its own, from SQLite: rates, CPU, and the server's memory.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/kernel/clock.ts'
import { makeIds } from '../src/kernel/ids.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { logStore } from '../src/proof/log/store.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import type { EndedRun } from '../src/storage/db/schema/schema.ts'
import { endedRun } from './ended-run.ts'
import { environment } from './environment.ts'
import { start, usageOf } from './processes.ts'
import { insertEnded, numberEnded } from './stored-runs.ts'

const count = Number(Bun.argv[2] ?? 1_000_000)
const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const other = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-usage-'))
const random = systemRandom()
const ids = makeIds(systemClock, random)
const port = 20_000 + (process.pid % 20_000)
const origin = `http://127.0.0.1:${port}`
const command = ['bun', 'src/main.ts']
const flags = ['--data', folder]

const serve = () =>
  start({
    command: [...command, 'serve', ...flags, '--listen', `127.0.0.1:${port}`],
    env: { COUNTERFOIL_BASE_URL: origin },
    ready: /listening/,
  })

await (await serve()).stop()
const create = ['key', 'create', ...flags, '--account', account, '--cap', '5', '--json']
const made = JSON.parse(
  Bun.spawnSync([...command, ...create], { env: environment() }).stdout.toString(),
)
const get = (path: string) =>
  fetch(origin + path, { headers: { authorization: `Bearer ${made.secret}` } })

await writeReceipts(made.id)
const server = await serve()
try {
  await measureCount()
  for (const format of ['csv', 'jsonl', 'focus']) await measureExport(format)
  await measureSums()
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}

/** Writes ended runs of 30 days and lets the log number them. */
async function writeReceipts(keyId: string): Promise<void> {
  const db = openSqlite(join(folder, 'counterfoil.db'))
  const begun = systemClock.now() - 30 * 86_400_000
  for (let at = 0; at < count; at += 1000) {
    const batch = Array.from({ length: Math.min(1000, count - at) }, (_, i) =>
      runAt(keyId, at + i, Math.floor(begun + ((at + i) / count) * 30 * 86_400_000)),
    )
    await db.write(() => insertEnded(db, batch))
  }
  await numberEnded(db, logStore(db, { clock: systemClock, node: 'bench', start: 0 }))
  await db.close()
}

/** Every second one is another account's. */
function runAt(keyId: string, index: number, finishedAt: number): EndedRun {
  const mine = index % 2 === 0
  return endedRun({
    id: ids.make('run'),
    issuer: origin,
    account: mine ? account : other,
    keyId: mine ? keyId : 'key_other',
    finishedAt,
    index,
  })
}

/** Waits until the job has counted all that was there at the start. */
async function measureCount(): Promise<void> {
  const [begun, before] = [performance.now(), usageOf(server.pid)]
  for (;;) {
    const { uncounted } = await (await get('/v1/usage')).json()
    if (uncounted === 0) break
    await Bun.sleep(1000)
  }
  const cpuUs = (usageOf(server.pid).cpuUs - before.cpuUs) / count
  const seconds = (performance.now() - begun) / 1000
  console.log(`counted in ${seconds.toFixed(1)} s, ${cpuUs.toFixed(1)} µs of CPU a receipt`)
}

/** Downloads an export by another process, and asks for something else every 20 ms meanwhile. */
async function measureExport(format: string): Promise<void> {
  const before = usageOf(server.pid)
  const begun = performance.now()
  const url = `${origin}/v1/usage/export?format=${format}`
  const bearer = `authorization: Bearer ${made.secret}`
  const file = join(folder, `export.${format}`)
  const client = Bun.spawn(['curl', '-sSf', '-H', bearer, '-o', file, url])
  const waits: number[] = []
  let most = 0
  const watch = setInterval(async () => {
    most = Math.max(most, usageOf(server.pid).rssMiB)
    const asked = performance.now()
    await fetch(`${origin}/livez`)
    waits.push(performance.now() - asked)
  }, 20)
  const exit = await client.exited
  clearInterval(watch)
  if (exit !== 0) throw new Error('the export broke off')
  const seconds = (performance.now() - begun) / 1000
  const bytes = Bun.file(file).size
  const lines = Number(Bun.spawnSync(['wc', '-l', file]).stdout.toString().split(' ')[0])
  const cpuUs = (usageOf(server.pid).cpuUs - before.cpuUs) / lines
  const p99 = waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? 0
  console.log(
    `${format}: ${lines} lines, ${(bytes / 2 ** 20).toFixed(0)} MiB in ${seconds.toFixed(1)} s, ` +
      `${cpuUs.toFixed(1)} µs of CPU a line; memory ${before.rssMiB.toFixed(0)} → ` +
      `${most.toFixed(0)} MiB; another request meanwhile waits ${p99.toFixed(1)} ms (p99)`,
  )
}

async function measureSums(): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < 200; i++) {
    const asked = performance.now()
    await (await get('/v1/usage?group_by=day,key,model')).json()
    times.push(performance.now() - asked)
  }
  const median = times.sort((a, b) => a - b)[100] ?? 0
  console.log(`sums of 30 days by day, key and model: ${median.toFixed(1)} ms`)
}
