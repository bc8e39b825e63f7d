/** Starts this build on the database of an older one, and compares all that both say of it. */
import { Database } from 'bun:sqlite'
import { copyFileSync, cpSync, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { usageOf } from '../bench/processes.ts'
import { connect } from '../src/storage/db/connection.ts'
import { migrateSqlite } from '../src/storage/db/migrate.ts'
import { type Browser, browser, signInWith } from '../test/accounts/wallet.ts'
import { freePort } from '../test/binary/nodes.ts'
import {
  binary,
  grant,
  type Home,
  makeHome,
  makeKey,
  must,
  type Server,
  someAccount,
} from '../test/support/binary.ts'
import { pacedModels, startPacedUpstream } from '../test/support/paced-upstream.ts'
import { pricedBuiltins, until } from '../test/support/runs.ts'
import { seedOlder } from './older-seed.ts'
import { stampOf } from './report.ts'

type Wish = {
  /** The executable of the version before. */
  older: string
  /** Runs written straight into its database. */
  count: number
  /** A larger database of that version, of which only the time of the migration is taken. */
  large: string | undefined
  say: (line: string) => void
}

/** Runs that the older build makes itself: real receipts, some of them public, one erased. */
const made = 300
/** Runs in flight when the older build is killed. */
const inFlight = 20
/** What the migration of a million runs may take. */
const mostSeconds = 1
const million = 1_000_000

const limits = 'limits = { rpm = 10_000_000, concurrency = 1_000_000, history_days = 3650 }'
const plans = `[[plans]]\nid = "free"\n${limits}\n`

export async function drillMigrate({ older, count, large, say }: Wish) {
  const port = freePort()
  const upstream = await startPacedUpstream()
  const models = `${pricedBuiltins}${pacedModels(upstream.url)}\n${plans}`
  const home = await makeHome(`base_url = "http://localhost:${port}"\n${models}`)
  const faults: string[] = []
  const claim = (isTrue: boolean, fault: string): void => void (isTrue || faults.push(fault))
  try {
    home.executable = resolve(older)
    const olderBuild = await must(home, 'version', '--json')
    const { key, receipts } = await fill(home, port, count)
    say(`${count + made} runs are in the log of ${olderBuild.trim()}`)
    const before = await look(home, port, key, receipts)
    const killed = join(home.folder, 'killed')
    cpSync(home.data, killed, { recursive: true })
    say(`it said ${before.answers.size} things, ${(before.bytes / 2 ** 20).toFixed(0)} MiB`)
    const migrated = timeMigration(join(home.data, 'counterfoil.db'), home.folder)
    home.executable = binary
    const after = await look(home, port, key, receipts)
    for (const [path, digest] of before.answers) {
      claim(after.answers.get(path) === digest, `${path} answers other bytes`)
    }
    claim(after.answers.size === before.answers.size, `${after.answers.size} answers`)
    say(`this build says the same, ready after ${after.readyMs.toFixed(0)} ms`)
    faults.push(...(await killAndFollow({ home, port, key, older: resolve(older), killed })))
    const timed = [{ rows: count + made, ...migrated }]
    if (large !== undefined) {
      const rows = runsIn(large)
      timed.push({ rows, ...timeMigration(large, home.folder) })
    }
    for (const { rows, seconds, cpuSeconds } of timed) {
      say(`${rows} runs: ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of CPU`)
      const most = mostSeconds * Math.max(1, rows / million)
      claim(cpuSeconds <= most, `${rows} runs took ${cpuSeconds.toFixed(2)} s of CPU`)
    }
    const { readyMs, answers } = after
    const build = await must(home, 'version', '--json')
    return { olderBuild, count, timed, readyMs, asked: answers.size, faults, build }
  } finally {
    await home.remove()
    await upstream.stop()
  }
}

/** Makes the older database, and stops with everything in it numbered, signed and counted. */
async function fill(home: Home, port: number, count: number) {
  await (await home.start({ port })).stop()
  const all = ['--scopes', 'runs:write,runs:read,usage:read,receipts:read,receipts:share,keys:read']
  const root = await makeKey(home, { cap: '9000000.00' }, ...all)
  const child = await makeKey(home, { cap: '9000000.00' }, '--parent', root.id)
  await grant(home, '1000000.00')
  seedOlder({
    data: home.data,
    origin: `http://localhost:${port}`,
    account: someAccount.toLowerCase(),
    root: root.id,
    child: child.id,
    count,
  })
  const server = await home.start({ port, withinMs: 600_000 })
  const receipts = await makeSome(server, root.secret)
  await settle(server, root.secret)
  await server.stop()
  return { key: root.secret, receipts }
}

/** Runs of every kind, some of them public, unlisted or erased. */
async function makeSome(server: Server, key: string): Promise<string[]> {
  const post = async (path: string, json: object) => {
    const answer = await server.call(path, { key, json })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const ids: string[] = []
  for (let at = 0; at < made; at += 20) {
    const some = Array.from({ length: 20 }, (_, i) => {
      const what = (at + i) % 7 === 0 ? 'counterfoil/embed-1' : 'counterfoil/echo-1'
      return post('/v1/runs', { model: what, input: `a drill ${at + i}` })
    })
    ids.push(...(await Promise.all(some)).map(({ receipt }) => receipt.id))
  }
  for (const [i, id] of ids.slice(0, 60).entries()) {
    const visibility = i % 2 === 0 ? 'public' : 'unlisted'
    await post(`/v1/receipts/${id}/share`, { visibility, sections: ['run', 'charge'] })
  }
  await post(`/v1/receipts/${ids[7]}/erase`, {})
  return ids
}

/** Waits until the log is numbered and signed, its head too, and all of it is counted. */
async function settle(server: Server, key: string): Promise<void> {
  const get = async (path: string) => (await server.call(path, { key })).json()
  await until(
    'everything to be counted and signed',
    async () => {
      const { log } = await get('/v1/anchors')
      const { uncounted } = await get('/v1/usage')
      return uncounted === 0 && Number(log.checkpoint?.size) === Number(log.size)
    },
    600_000,
  )
}

type Seen = { answers: Map<string, string>; bytes: number; readyMs: number }

/** Starts the build of a home and asks it for all that it knows. */
async function look(home: Home, port: number, key: string, receipts: string[]): Promise<Seen> {
  const server = await home.start({ port, withinMs: 600_000 })
  await settle(server, key)
  const own = browser(server)
  if (!(await signInWith(own)).ok) throw new Error('nobody is signed in')
  const answers = new Map<string, string>()
  let bytes = 0
  const note = async (path: string, asker: Server | Browser = server) => {
    const answer = await (asker === server ? server.call(path, { key }) : asker.call(path))
    const body = await answer.text()
    if (answer.status !== 200) throw new Error(`${path}: ${body}`)
    bytes += body.length
    const told = body.replace(/"last_used_at":"[^"]+"/, '')
    answers.set(path, new Bun.CryptoHasher('sha256').update(told).digest('hex'))
    return body
  }
  const noteList = async (path: string, asker: Server | Browser = server) => {
    const join = path.includes('?') ? '&' : '?'
    for (let after = ''; ; ) {
      const page = JSON.parse(await note(`${path}${join}limit=100${after}`, asker))
      if (!page.has_more) return
      after = `&after=${page.last_id}`
    }
  }
  for (const path of ['/v1/runs', '/v1/receipts', '/v1/explorer/recent']) await noteList(path)
  for (const path of ['/api/portal/statement', '/api/portal/statement?by=day']) {
    await noteList(path, own)
  }
  for (const path of ['/api/portal/runs?limit=100', '/api/portal/receipts?visibility=public']) {
    await note(path, own)
  }
  await note('/api/portal/statement/export', own)
  for (const format of ['csv', 'jsonl', 'focus']) await note(`/v1/usage/export?format=${format}`)
  for (const by of ['day', 'key', 'model']) await note(`/v1/usage?group_by=${by}`)
  for (const id of receipts) {
    await note(`/v1/receipts/${id}`)
    await note(`/v1/receipts/${id}/proof`)
    await note(`/v1/runs/run_${id.slice('rcpt_'.length)}`)
  }
  for (const path of ['/v1/balance', '/v1/keys/self', '/v1/anchors', '/v1/signer']) await note(path)
  await note('/v1/explorer/stats?window=all')
  const { ledger } = await (await server.call('/v1/status')).json()
  answers.set('the ledger', ledger)
  const { readyMs } = server
  await server.stop()
  return { answers, bytes, readyMs }
}

type Killed = { home: Home; port: number; key: string; older: string; killed: string }

/** Kills the older build with runs in flight, and starts this one on what it left. */
async function killAndFollow({ home, port, key, older, killed }: Killed): Promise<string[]> {
  const data = ['--data', killed]
  home.executable = older
  const dying = await home.start({ port, args: data, withinMs: 600_000 })
  const json = { model: 'stub/silent', input: 'go on' }
  const calls = Array.from({ length: inFlight }, () =>
    dying.call('/v1/runs', { key, json }).catch(() => undefined),
  )
  const money = async (server: Server) => (await server.call('/v1/balance', { key })).json()
  const before = await until('the holds', async () => {
    const now = await money(dying)
    const { data } = await (await dying.call('/v1/runs?limit=50', { key })).json()
    const open = data.filter((run: { status: string }) => run.status === 'running')
    return open.length === inFlight && now
  })
  await dying.stop('SIGKILL')
  await Promise.all(calls)
  home.executable = binary
  const server = await home.start({ port, args: data, withinMs: 600_000 })
  const faults: string[] = []
  const isFree = async () => (await money(server)).held_nusd === 0
  await until('the ends', isFree, 30_000).catch((error) => faults.push(error.message))
  const after = await money(server)
  if (after.balance_nusd !== before.balance_nusd) faults.push('a run that was killed was charged')
  const { data: runs } = await (await server.call('/v1/runs?limit=50', { key })).json()
  const ended = runs.filter((run: { status: string }) => run.status === 'interrupted')
  if (ended.length !== inFlight) faults.push(`${ended.length} of ${inFlight} runs were interrupted`)
  const { ledger } = await (await server.call('/v1/status')).json()
  if (ledger !== 'balanced') faults.push(`the ledger of the killed one is ${ledger}`)
  await server.stop()
  return faults
}

function runsIn(file: string): number {
  const raw = new Database(file, { readonly: true })
  const [[rows]] = raw.query('SELECT count(*) FROM runs').values() as [[number]]
  raw.close()
  return rows
}

/** Migrates a copy of a file in this process. */
function timeMigration(file: string, folder: string): { seconds: number; cpuSeconds: number } {
  const copy = join(folder, 'timed.db')
  for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, copy + end)
  const raw = connect(copy)
  // The server that ran before the migration has read the file.
  raw.query('SELECT sum(length(lines)) FROM runs').values()
  const [begun, cpu] = [performance.now(), usageOf(process.pid).cpuUs]
  migrateSqlite(raw, Date.now(), () => {})
  const seconds = (performance.now() - begun) / 1000
  const cpuSeconds = (usageOf(process.pid).cpuUs - cpu) / million
  raw.close()
  for (const end of ['', '-wal', '-shm']) if (existsSync(copy + end)) Bun.file(copy + end).delete()
  return { seconds, cpuSeconds }
}

type Result = Awaited<ReturnType<typeof drillMigrate>>

export function migrateReport(result: Result): string {
  const { olderBuild, count, timed, readyMs, asked, faults, build } = result
  const lines = timed.map(({ rows, seconds, cpuSeconds }) => {
    const of = `${words(rows)} runs`
    const each = ((cpuSeconds / rows) * million).toFixed(2)
    return `- ${of}: ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of CPU, ${each} s for 10^6`
  })
  return `## The database of the version before

\`bun run drill migrate\`, ${stampOf(build)}

A build of before (\`${olderBuild.trim()}\`)
serves ${words(count)} runs written straight into its database and ${made} of its own, some of them
public, unlisted or erased. It is asked for every page of the runs, receipts, public receipts and
the statement, for exports and sums of usage, for the receipts with their proofs, balances and
heads: ${asked} answers. Then this build starts on that database and answers the same, byte for
byte. A copy of it was killed with ${inFlight} runs in flight: this build ends them as interrupted,
without a charge.

**${faults.length} faults.**${faults.map((fault) => `\n- ${fault}`).join('')}

The migration alone, of a file that was just read:

${lines.join('\n')}
- the first start on ${words(count + made)} runs was ready after ${(readyMs / 1000).toFixed(1)} s
`
}

const words = (rows: number): string => rows.toLocaleString('en')
