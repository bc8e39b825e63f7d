/** Faults that withhold a resource: the end of the write-ahead log, memory, the event log. */
import { Database } from 'bun:sqlite'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { usageOf } from '../bench/processes.ts'
import { until } from '../test/support/runs.ts'
import { askAll } from './asked.ts'
import { type Bench, startOn, startUnder } from './fault-bench.ts'
import { countOf, judgeAnew, judgeStopped, type Row, skippedRow } from './fault-tools.ts'

const walOf = ({ home }: Bench): string => join(home.data, 'counterfoil.db-wal')

const ballastMiB = 272

/** Someone reads for ever, so that the write-ahead log is not written back: it only grows. */
export async function pinnedReader(bench: Bench): Promise<Row> {
  const file = join(bench.home.data, 'counterfoil.db')
  const faults: string[] = []
  const server = await startOn(bench)
  const reader = new Database(file, { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM runs').values()
  const writer = new Database(file)
  writer.run('PRAGMA busy_timeout = 5000')
  writer.run('CREATE TABLE drill_ballast (bytes BLOB)')
  const asking = askAll(bench, server, { clients: 4, each: 100 })
  for (let i = 0; i < ballastMiB / 4; i++) {
    writer.run('INSERT INTO drill_ballast VALUES (zeroblob(4194304))')
    await Bun.sleep(10)
  }
  const asked = await asking
  const grown = statSync(walOf(bench)).size >> 20
  if (asked.some(({ paid }) => !paid)) faults.push(`beside the reader: ${countOf(asked)}`)
  const said = () => readFileSync(bench.home.printed.stderr, 'utf8')
  // Looked at once a minute.
  await until('a warning', () => said().includes('database.wal_grows'), 70_000)
  reader.run('ROLLBACK')
  reader.close()
  writer.run('DROP TABLE drill_ballast')
  writer.close()
  const after = await askAll(bench, server, { clients: 4, each: 30 })
  if (after.some(({ paid }) => !paid)) faults.push(`afterwards: ${countOf(after)}`)
  const shrunk = statSync(walOf(bench)).size >> 20
  if (shrunk > 64) faults.push(`the log still has ${shrunk} MiB`)
  faults.push(...(await judgeStopped(bench, server)))
  const fault = `a reader that stays, and ${ballastMiB} MiB that are written meanwhile`
  const expected = 'a warning, no outage; the log is written back when the reader is gone'
  const seen =
    `${countOf(asked)}; the log ${grown} MiB, \`database.wal_grows\`; ` +
    `then ${countOf(after)}, ${shrunk} MiB`
  return { fault, expected, seen, faults }
}

const cgroups = '/sys/fs/cgroup/memory'
/** Enough for a part of the runs. */
const moreMiB = 96

/** The kernel kills the process for its memory, in the middle of runs. */
export async function littleMemory(bench: Bench): Promise<Row> {
  const fault = 'more memory than its cgroup has'
  const expected = 'the kernel ends it; a restart holds every acknowledged answer, once'
  const group = join(cgroups, `counterfoil-drill-${process.pid}`)
  if (!existsSync(join(cgroups, 'memory.limit_in_bytes'))) {
    return skippedRow(fault, expected, 'there is no memory controller of cgroup v1')
  }
  mkdirSync(group)
  const server = await startOn(bench)
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(server.pid))
    const before = usageOf(server.pid).rssMiB
    // What it had before it moved here is not counted.
    writeFileSync(join(group, 'memory.limit_in_bytes'), String(moreMiB * 1024 * 1024))
    const asked = await askAll(bench, server, { clients: 200, each: 20, model: 'stub/pace-50' })
    const isAlive = await Promise.race([server.exited.then(() => false), Bun.sleep(100)])
    await server.stop('SIGKILL')
    const faults = await judgeAnew(bench)
    const end = isAlive === false ? 'it was killed' : 'it lived within it'
    const seen = `${moreMiB} MiB more than ${before.toFixed(0)}: ${countOf(asked)}; ${end}`
    return { fault, expected, seen, faults }
  } finally {
    await server.stop('SIGKILL')
    rmdirSync(group)
  }
}

const turns = 20

/** Its log is moved away, or copied and emptied, while it writes there. */
export async function rotatedLog(bench: Bench): Promise<Row> {
  const faults: string[] = []
  const log = join(bench.home.folder, 'server.log')
  const server = await startUnder(bench, ['env'], { stderr: log })
  const asking = askAll(bench, server, { clients: 2, each: 60 })
  const kept: string[] = []
  let reloads = 0
  const hup = async (file: string) => {
    const before = countReloads(file)
    server.signal('SIGHUP')
    await until('a line of the reload', () => countReloads(file) > before)
    reloads++
  }
  for (let i = 0; i < turns; i++) {
    await hup(log)
    copyFileSync(log, `${log}.${i}`)
    truncateSync(log)
    kept.push(`${log}.${i}`)
  }
  renameSync(log, `${log}.moved`)
  kept.push(`${log}.moved`)
  for (let i = 0; i < turns; i++) await hup(`${log}.moved`)
  const asked = await asking
  if (asked.some(({ paid }) => !paid)) faults.push(countOf(asked))
  const ended = await server.stop('SIGTERM')
  if (ended !== 0) faults.push(`SIGTERM ended with ${ended}`)
  const found = kept.reduce((sum, file) => sum + countReloads(file), 0)
  if (found !== reloads) faults.push(`${found} of ${reloads} lines are there`)
  const torn = kept.flatMap((file) => linesOf(file).filter((line) => !isWhole(line)))
  faults.push(...torn.map((line) => `torn: ${line.slice(0, 100)}`))
  faults.push(...(await judgeAnew(bench)))
  const fault = `its log copied and emptied ${turns} times, then moved away, with SIGHUP`
  const expected = 'no line is lost or torn, requests are not affected'
  return { fault, expected, seen: `${found} of ${reloads} lines; ${countOf(asked)}`, faults }
}

const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')

const countReloads = (file: string): number =>
  linesOf(file).filter((line) => line.includes('"config.reloaded"')).length

/** What it prints at its start is for people; everything else is an object. */
function isWhole(line: string): boolean {
  if (!line.includes('"msg"') && !line.includes('\0') && !line.includes('"level"')) return true
  try {
    return typeof JSON.parse(line).msg === 'string'
  } catch {
    return false
  }
}
