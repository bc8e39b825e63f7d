/**
 * Kills the daily statement of liabilities at each of its steps and system calls, on both engines;
 * a second process goes on and judges. Then measures a statement of 100,000 accounts.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../src/app/version.ts'
import { emptyDatabase, postgresServer } from '../test/support/postgres.ts'
import { canTrace, inject } from './fault-tools.ts'
import type { LiabilitiesNodeOptions, LiabilitiesNodeReport } from './liabilities-node.ts'
import { faultList, headOf } from './report.ts'

export type Engine = 'sqlite' | 'postgres'

/** How a process dies: at a call of its store, or at the n-th system call of the kinds named. */
type Death = Pick<LiabilitiesNodeOptions, 'dies' | 'busy'> & { call?: number }

type Killed = {
  engine: Engine
  how: 'steps' | 'calls'
  rounds: number
  /** Processes that died at their point, and days whose statement one of them had made. */
  hit: number
  made: number
}

type Measured = NonNullable<LiabilitiesNodeReport['measured']> & { engine: Engine; busy: boolean }

export type LiabilitiesDrillOptions = {
  /** Accounts of the service that is killed. */
  accounts: number
  /** Only every so many calls of the store, and every so many system calls; 1 for all. */
  strides: { steps: number; calls: number }
  /** Accounts of the measured service; 0 for none. */
  large: number
  say?: (line: string) => void
}

export const engines: Engine[] = postgresServer ? ['sqlite', 'postgres'] : ['sqlite']

/** The way to the disk of SQLite, and to the server and back. */
const callsOf = { sqlite: 'pwrite64,fsync,fdatasync,?rename', postgres: 'sendto,recvfrom' }

export async function drillLiabilities(wishes: LiabilitiesDrillOptions) {
  const { say = () => {}, large } = wishes
  const [killed, measured]: [Killed[], Measured[]] = [[], []]
  const faults: string[] = []
  const isTraceable = await canTrace()
  for (const engine of engines) {
    const service = await openService(engine)
    try {
      const rounds = await killEach(service, wishes, { isTraceable, faults })
      killed.push(...rounds)
      for (const { how, hit, made } of rounds) say(`${engine}, ${how}: ${hit} killed, ${made} made`)
    } finally {
      await service.remove()
    }
    for (const busy of large > 0 ? [false, true] : []) {
      const one = await measure(engine, large, busy)
      measured.push({ ...one, engine, busy })
      say(`${engine}, ${large} accounts: ${JSON.stringify(one)}`)
    }
  }
  return { killed, measured, faults, ...wishes, isTraceable }
}

type Service = Awaited<ReturnType<typeof openService>>

async function openService(engine: Engine) {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-liabilities-'))
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  const database = engine === 'postgres' ? await emptyDatabase() : undefined
  return {
    engine,
    folder,
    at: { data, url: database?.url },
    remove: async () => {
      await database?.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A day for each point: one process dies there, the next one finishes and judges. */
async function killEach(
  service: Service,
  { accounts, strides }: LiabilitiesDrillOptions,
  { isTraceable, faults }: { isTraceable: boolean; faults: string[] },
): Promise<Killed[]> {
  const { engine } = service
  let day = 0
  await runNode(service, { day, accounts })
  const live = async (death: Death) => {
    day += 1
    const first = await runNode(service, { day, accounts, ...death }, death.call)
    const second = await runNode(service, { day, accounts, busy: true, judges: true })
    if (!second) throw new Error(`day ${day} on ${engine}: the second process died`)
    faults.push(...second.faults.map((fault) => `${engine}, ${JSON.stringify(death)}: ${fault}`))
    return { first, isMade: first !== undefined || second.steps === 1 }
  }
  // One that lives says how many steps there are.
  const { first: whole } = await live({ busy: true })
  const byStep = { engine, how: 'steps' as const, rounds: 0, hit: 0, made: 0 }
  for (let step = 1; step <= (whole?.steps ?? 0); step += strides.steps) {
    for (const when of ['before', 'after'] as const) {
      note(byStep, await live({ dies: { step, when }, busy: true }))
    }
  }
  const byCall = { engine, how: 'calls' as const, rounds: 0, hit: 0, made: 0 }
  for (let call = 1; isTraceable; call += strides.calls) {
    const lived = await live({ call })
    note(byCall, lived)
    if (lived.first) break
  }
  return [byStep, byCall]
}

function note(killed: Killed, { first, isMade }: { first: unknown; isMade: boolean }): void {
  killed.rounds += 1
  if (!first) killed.hit += 1
  if (isMade && !first) killed.made += 1
}

/** Runs a process to its end and gives what it told; undefined where it was killed. */
async function runNode(
  { engine, folder, at }: Service,
  wish: Omit<LiabilitiesNodeOptions, 'data' | 'url'>,
  call?: number,
): Promise<LiabilitiesNodeReport | undefined> {
  const words = [join(import.meta.dir, 'liabilities-node.ts'), JSON.stringify({ ...at, ...wish })]
  const child = Bun.spawn([process.execPath, ...words], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const lines = linesOf(child.stdout)
  const { value: ready } = await lines.next()
  if (ready !== 'ready') throw new Error(`day ${wish.day} on ${engine} did not open`)
  const what = `signal=KILL:when=${call}`
  const strace =
    call === undefined
      ? undefined
      : await inject({ home: { folder } }, child, { calls: callsOf[engine], what })
  child.stdin.write('go\n')
  child.stdin.end()
  const { value: told } = await lines.next()
  await child.exited
  await strace?.stop()
  if (told) return JSON.parse(told)
  const isMeant = child.signalCode === 'SIGKILL' && (wish.dies ?? call) !== undefined
  if (!isMeant) throw new Error(`day ${wish.day} on ${engine} ended with ${child.exitCode}`)
  return undefined
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      yield text.slice(0, end)
      text = text.slice(end + 1)
    }
  }
  return undefined
}

/** A statement of many accounts, alone or while credit is granted, in a process of its own. */
async function measure(engine: Engine, accounts: number, busy: boolean) {
  const service = await openService(engine)
  try {
    await runNode(service, { day: 0, accounts })
    const told = await runNode(service, { day: 1, accounts, busy, measures: true })
    if (!told?.measured) throw new Error('nothing was measured')
    return told.measured
  } finally {
    await service.remove()
  }
}

type Result = Awaited<ReturnType<typeof drillLiabilities>>

export function liabilitiesReport(result: Result): string {
  const commit = Bun.spawnSync(['git', 'rev-parse', 'HEAD']).stdout.toString().trim()
  const build = JSON.stringify({ version, commit, bun: Bun.version })
  const { killed, measured, faults, accounts, large, isTraceable } = result
  const names = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
  const kills = killed.map(({ engine, how, rounds, hit, made }) => {
    const where = how === 'steps' ? 'before and after each call of the store' : callsOf[engine]
    return `| ${[names[engine], where.replaceAll('?', ''), rounds, hit, made].join(' | ')} |`
  })
  const rows = measured.map(({ engine, busy, ms, stallMs, grownMiB, slowestGrantMs }) => {
    const slowest = busy ? slowestGrantMs.toFixed(0) : ''
    const cells = [names[engine], busy ? 'one grant after the other' : 'nothing']
    const figures = [(ms / 1000).toFixed(2), grownMiB.toFixed(0), stallMs.toFixed(0), slowest]
    return `| ${[...cells, ...figures].join(' | ')} |`
  })
  return `${headOf('Killed while it publishes liabilities', 'liabilities', build)}

A service with ${accounts} accounts makes its statement of the day while credit is granted to one
account after the other. SIGKILL ends the process before and after each call of its store, and
${isTraceable ? 'at the system calls of the table' : '(not tried: no strace)'}.
A second process of that day goes on. Then there is exactly one statement of each day, one leaf of
each in the log, no part of a draft, every account's path verifies, the total is what the grants up
to one moment come to, to the nano-dollar, and the whole audit of the ledger finds nothing. *Made*
counts the kills after which the statement of the dead process stands.

${faultList(faults)}

| engine | killed at | rounds | hit | made |
|---|---|---:|---:|---:|
${kills.join('\n')}

${headOf(`Liabilities to ${large.toLocaleString('en-US')} accounts`, 'liabilities', build)}

The whole job in a process of its own: reads all balances at one moment, sorts, hashes and stores
the leaves, signs, logs. Memory is the most resident size beyond that of before; the stall is the
longest turn of the event loop.

| engine | meanwhile | seconds | memory, MiB | longest stall, ms | slowest grant, ms |
|---|---|---:|---:|---:|---:|
${rows.join('\n')}
`
}
