/** Kills a server with very many runs in flight, and times the start that ends them. */
import { Database } from 'bun:sqlite'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { usageOf } from '../bench/processes.ts'
import { auditStore } from '../src/ledger/store/audit.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { type Home, makeHome, makeKey, must, type Server } from '../test/support/binary.ts'
import { freePort } from '../test/support/free-port.ts'
import { pricedBuiltins, until } from '../test/support/runs.ts'
import { writeOpenRuns } from './open-runs.ts'
import { faultList, headOf, seconds } from './report.ts'

/** One start over the runs of a server that was killed. */
export type Recovery = {
  /** Starts before it that were killed in the middle. */
  killed: number
  /** From the start of the process to a good `/readyz`, and to the end of the last run, in ms. */
  readyMs: number
  endedMs: number
  /** Of all its threads until then. */
  cpuMs: number
  peakMiB: number
}

const holders = 100
/** How many of the runs are left when a start is killed. */
const killsAt = [0.9, 0.6, 0.3]
const withinMs = 600_000
/** What a start with these runs may take, and its memory at most. */
const mostReadyMs = 15_000
const mostMiB = 768

export async function drillRecover(count: number, say: (line: string) => void = () => {}) {
  const port = freePort()
  const origin = `http://localhost:${port}`
  await using home = await makeHome([`base_url = "${origin}"`, pricedBuiltins].join('\n'))
  const faults: string[] = []
  await (await home.start({ port })).stop('SIGKILL')
  const { secret } = await makeKey(home)
  await writeOpenRuns(home.data, { origin, count, accounts: holders })
  const [kept, empty] = [join(home.folder, 'kept'), await emptyStart(port)]
  cpSync(home.data, kept, { recursive: true })
  say(`${count} runs of ${holders} accounts are open; an empty start takes ${seconds(empty)}`)
  const whole = await recover(home, { port, secret, count }, 0, faults)
  say(lineOf(whole))
  rmSync(home.data, { recursive: true })
  renameSync(kept, home.data)
  for (const part of killsAt) {
    const left = until('some ends', () => openOf(home) < part * count, withinMs)
    await home.killStarting(left, { port })
  }
  const again = await recover(home, { port, secret, count }, killsAt.length, faults)
  say(lineOf(again))
  if (whole.readyMs > mostReadyMs) faults.push(`ready after ${seconds(whole.readyMs)}`)
  const build = await must(home, 'version', '--json')
  return { count, empty, recoveries: [whole, again], faults, build }
}

/** What a start takes that has nothing to end, in ms. */
async function emptyStart(port: number): Promise<number> {
  await using home = await makeHome()
  await (await home.start({ port })).stop()
  const server = await home.start({ port })
  await server.stop()
  return server.readyMs
}

type Given = { port: number; secret: string; count: number }

/** Starts over the open runs, waits until none is left, and looks whether all is right. */
async function recover(
  home: Home,
  { port, secret, count }: Given,
  killed: number,
  faults: string[],
): Promise<Recovery> {
  const leftBefore = killed === 0 ? count : openOf(home)
  if (leftBefore === 0) faults.push('the starts that were killed had ended all runs')
  const begun = performance.now()
  const server = await home.start({ port, withinMs })
  await until('no open run', () => openOf(home) === 0, withinMs)
  const endedMs = performance.now() - begun
  const { cpuUs, peakMiB } = usageOf(server.pid)
  if (peakMiB > mostMiB) faults.push(`its memory was ${peakMiB.toFixed(0)} MiB`)
  faults.push(...(await servedFaults(server, secret)))
  if ((await server.stop()) !== 0) faults.push('SIGTERM did not end with 0')
  faults.push(...(await storedFaults(home, count)))
  return { killed, readyMs: server.readyMs, endedMs, cpuMs: cpuUs / 1000, peakMiB }
}

const fileOf = ({ data }: Pick<Home, 'data'>): string => join(data, 'counterfoil.db')

function ask<T>(home: Pick<Home, 'data'>, question: string): T {
  const db = new Database(fileOf(home), { readonly: true })
  db.run('PRAGMA busy_timeout = 5000')
  try {
    return db.query(question).get() as T
  } finally {
    db.close()
  }
}

const openOf = (home: Home): number =>
  ask<{ n: number }>(home, 'SELECT count(*) AS n FROM open_runs').n

async function servedFaults(server: Server, key: string): Promise<string[]> {
  const { ledger } = await server.get('/v1/status')
  const model = 'counterfoil/echo-1'
  const messages = [{ role: 'user', content: 'a drill' }]
  const told = await server.call('/v1/chat/completions', { key, json: { model, messages } })
  return [
    ...(ledger === 'balanced' ? [] : [`the ledger is ${ledger}`]),
    ...(told.status === 402 ? [] : [`a run without credit is ${told.status}`]),
  ]
}

type Sums = { ended: number; cost: number; leaves: number; held: number; kept: number }

/** Each run ended once and at no charge, all of them in the log, nothing held, no call kept. */
async function storedFaults(home: Home, count: number): Promise<string[]> {
  const found = ask<Sums>(
    home,
    `SELECT count(*) FILTER (WHERE status = 'interrupted' AND digest IS NOT NULL) AS ended,
      sum(cost) AS cost, count(DISTINCT place) AS leaves,
      (SELECT sum(held) FROM accounts) + (SELECT sum(held) FROM key_windows)
        + (SELECT sum(spent) FROM key_windows) AS held,
      (SELECT count(*) FROM idempotent_calls)
        + (SELECT count(*) FROM transfers WHERE kind <> 'grant') AS kept
    FROM runs`,
  )
  const expected: Sums = { ended: count, cost: 0, leaves: count, held: 0, kept: 0 }
  const db = openSqlite(fileOf(home))
  const faults = await auditStore(db).whole(Date.now())
  await db.close()
  if (JSON.stringify(found) !== JSON.stringify(expected)) faults.push(JSON.stringify(found))
  return faults
}

const lineOf = ({ killed, readyMs, endedMs, cpuMs, peakMiB }: Recovery): string =>
  `after ${killed} starts that were killed: ready after ${seconds(readyMs)}, the last run ended ` +
  `after ${seconds(endedMs)}, ${seconds(cpuMs)} of CPU, ${peakMiB.toFixed(0)} MiB at most`

type Result = Awaited<ReturnType<typeof drillRecover>>

export function recoverReport({ count, empty, recoveries, faults, build }: Result): string {
  return `${headOf(`Killed with ${count.toLocaleString('en')} runs in flight`, 'recover', build)}

The runs are written straight into the database as a process that was killed leaves them: each open,
with its hold on one of ${holders} accounts and on its key, and every other one begun with an
Idempotency-Key. Then the server starts and ends them, for 3 s before it is ready and the others
beside its clients; and, with the same database again, a start
that comes after ${killsAt.length} others which were killed in the middle of that. In the end each
run is \`interrupted\`, cost nothing and has one place in the log; nothing is held, no key is kept,
and the ledger adds up. A start with nothing to end takes ${seconds(empty)} on this machine.

${faultList(faults)}

${recoveries.map((one) => `- ${lineOf(one)}`).join('\n')}
`
}
