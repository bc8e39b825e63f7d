/** The file system and the files under a running server. */
import { Database } from 'bun:sqlite'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Server } from '../test/support/binary.ts'
import { ask, askAll } from './asked.ts'
import { type Bench, makeBench, startOn, startUnder } from './fault-bench.ts'
import {
  countOf,
  inject,
  judgeAnew,
  judgeKilled,
  judgeStopped,
  type Row,
  readFaults,
  readyOf,
  untilReady,
} from './fault-tools.ts'

const fileOf = ({ home }: Bench): string => join(home.data, 'counterfoil.db')

/** The data folder is a file system of 40 MiB, which something else fills, twice. */
export async function fullDisk(): Promise<Row> {
  await using bench = await makeBench({ smallMiB: 40 })
  return await fillTwice(bench)
}

async function fillTwice(bench: Bench): Promise<Row> {
  const faults: string[] = []
  const ballast = join(bench.home.data, 'ballast')
  const server = await startOn(bench)
  const seen: string[] = []
  for (let turn = 0; turn < 2; turn++) {
    const { bavail, bsize } = statfsSync(bench.home.data)
    // Some pages are left, so that it becomes full in the middle of a transaction.
    writeFileSync(ballast, Buffer.alloc(Math.max(0, (bavail - 20 - turn * 9) * bsize)))
    const asked = await askAll(bench, server, { clients: 4, each: 8 })
    if (!asked.some(({ reason }) => reason === 'storage_full'))
      faults.push('no answer named storage_full')
    faults.push(...(await readFaults(bench, server)))
    const ready = await readyWhileFull(bench, server)
    if (ready !== 'storage_full') faults.push(`/readyz says ${ready}`)
    rmSync(ballast)
    const after = await askAll(bench, server, { clients: 2, each: 3 })
    if (after.some(({ paid }) => !paid)) faults.push(`it did not recover: ${countOf(after)}`)
    seen.push(`${countOf(asked)}; with room again ${countOf(after)}`)
  }
  const ready = await untilReady(server, 'ok')
  if (ready !== 'ok') faults.push(`/readyz says ${ready} with room again`)
  faults.push(...(await judgeKilled(bench, server)))
  const expected = '503 `storage_full`, reads go on; with room again it goes on, no restart'
  const fault = 'a file system of 40 MiB that is full, twice'
  return { fault, expected, seen: seen.join('; '), faults }
}

/** What supervisors are told after a refused write; a smaller one may fit and end the fault. */
async function readyWhileFull(bench: Bench, server: Server): Promise<string> {
  for (let left = 10; ; left--) {
    await askAll(bench, server, { clients: 4, each: 1 })
    const ready = await readyOf(server)
    if (ready === 'storage_full' || left === 0) return ready
  }
}

/** In a mount namespace of its own the data folder becomes read-only, as far as Linux lets it. */
export async function readOnly(bench: Bench): Promise<Row> {
  const faults: string[] = []
  const { data } = bench.home
  const script = `mount --bind ${data} ${data} && exec "$@"`
  const wrap = ['unshare', '-m', '--propagation', 'private', 'sh', '-c', script, 'sh']
  const server = await startUnder(bench, wrap)
  const remount = (how: string) =>
    Bun.spawnSync(
      ['nsenter', '-t', String(server.pid), '-m', 'mount', '-o', `remount,bind,${how}`, data],
      { stderr: 'pipe' },
    )
  const done = remount('ro')
  const isBusy = done.exitCode !== 0
  const why = done.stderr.toString().trim().split('\n')[0] ?? ''
  const asked = await askAll(bench, server, { clients: 2, each: 3 })
  faults.push(...(await readFaults(bench, server)))
  if (isBusy && asked.some(({ paid }) => !paid)) faults.push(countOf(asked))
  if (!isBusy && asked.some(({ paid }) => paid)) faults.push('a write was taken')
  if (!isBusy) remount('rw')
  const after = await askAll(bench, server, { clients: 1, each: 2 })
  faults.push(...(await judgeKilled(bench, server)))
  const told = isBusy ? `Linux refuses it, “${why.split(': ').at(-1)}”` : 'done'
  const seen = `${told}; ${countOf(asked)}; then ${countOf(after)}`
  const expected = '503, reads go on; or the kernel refuses, and nothing happens'
  return { fault: '`mount -o remount,ro` under the server', expected, seen, faults }
}

/** The database is deleted; the operator copies it from /proc before the stop, as docs say. */
export async function deleted(bench: Bench): Promise<Row> {
  const faults: string[] = []
  const file = fileOf(bench)
  const server = await startOn(bench)
  const before = await askAll(bench, server, { clients: 2, each: 3 })
  rmSync(file)
  const ready = await untilReady(server, 'storage_moved', 10_000)
  if (ready !== 'storage_moved') faults.push(`/readyz says ${ready}`)
  const after = await askAll(bench, server, { clients: 2, each: 2 })
  if (after.some(({ reason }) => reason !== 'storage_moved')) faults.push(countOf(after))
  faults.push(...(await readFaults(bench, server)))
  if (existsSync(file)) faults.push('a new file was made')
  const kept = join(bench.home.folder, 'kept.db')
  copyFileSync(openedAs(server.pid, file), kept)
  await server.stop('SIGKILL')
  const refused = await bench.home.cli('serve')
  if (refused.code === 0 || !refused.stderr.includes('is gone')) {
    faults.push(`without the file a start says: ${refused.stderr.slice(-200)}`)
  }
  copyFileSync(kept, file)
  faults.push(...(await judgeAnew(bench)))
  const seen =
    `${countOf(before)}; deleted, ${countOf(after)}; a start without it is refused; ` +
    'put back from /proc/<pid>/fd, all is there'
  const expected = 'found out within seconds, writes stop; no new file is made'
  return { fault: 'the database file is deleted', expected, seen, faults }
}

/** The name under /proc of a file that a process has open, though its own name is gone. */
function openedAs(pid: number, file: string): string {
  const folder = `/proc/${pid}/fd`
  const found = readdirSync(folder).find((fd) => {
    try {
      return readlinkSync(join(folder, fd)) === `${file} (deleted)`
    } catch {
      return false
    }
  })
  if (found === undefined) throw new Error(`${pid} does not have ${file} open`)
  return join(folder, found)
}

/** Every page but the first is overwritten under a running server. */
export async function damagedPages(bench: Bench): Promise<Row> {
  const faults: string[] = []
  const file = fileOf(bench)
  const server = await startOn(bench)
  const whole = readFileSync(file)
  overwrite(file, 1)
  const asked = await askAll(bench, server, { clients: 2, each: 12 })
  const ready = await untilReady(server, 'storage_damaged', 5000)
  const said = readFileSync(bench.home.printed.stderr, 'utf8')
  if (ready !== 'storage_damaged') faults.push(`/readyz says ${ready}`)
  const late = await ask(bench, server)
  if (late.reason !== 'storage_damaged') faults.push(`afterwards: ${countOf([late])}`)
  if (!said.includes('counterfoil doctor')) faults.push('the log does not say what to do')
  if (statSync(file).size !== whole.length) faults.push('the file has another length')
  await server.stop('SIGKILL')
  const refused = await bench.home.cli('serve')
  if (refused.code === 0 || !refused.stderr.includes('counterfoil doctor')) {
    faults.push(`a start over it says: ${refused.stderr.slice(-300)}`)
  }
  const doctor = await bench.home.cli('doctor')
  if (doctor.code === 0) faults.push('doctor finds nothing')
  writeFileSync(file, whole)
  faults.push(...(await judgeAnew(bench)))
  const seen = `${countOf(asked)}; /readyz ${ready}; doctor ends with ${doctor.code}`
  const expected = 'money routes 503 `storage_damaged`, the log names the command, no repair'
  return { fault: 'pages overwritten under the server', expected, seen, faults }
}

/** `dd` over all pages from one on. */
function overwrite(file: string, fromPage: number): void {
  const pages = Math.floor(statSync(file).size / 4096)
  const words = [
    'dd',
    'if=/dev/urandom',
    `of=${file}`,
    'bs=4096',
    `seek=${fromPage}`,
    `count=${pages - fromPage}`,
    'conv=notrunc',
  ]
  Bun.spawnSync(words, { stderr: 'ignore' })
}

/** The header is overwritten while no one serves: the start is refused, the file stays. */
export async function damagedHeader(bench: Bench): Promise<Row> {
  const faults: string[] = []
  const file = fileOf(bench)
  const whole = readFileSync(file)
  Bun.spawnSync(['dd', 'if=/dev/urandom', `of=${file}`, 'bs=100', 'count=1', 'conv=notrunc'], {
    stderr: 'ignore',
  })
  const damaged = readFileSync(file)
  const { code, stderr } = await bench.home.cli('serve')
  if (code === 0) faults.push('it started')
  if (!readFileSync(file).equals(damaged)) faults.push('the file was changed')
  writeFileSync(file, whole)
  faults.push(...(await judgeAnew(bench)))
  const said = stderr.trim().split('\n').at(-1)?.replaceAll(bench.home.folder, '…') ?? ''
  const expected = 'the start is refused, the file stays as it is'
  return { fault: 'the header overwritten', expected, seen: `“${said}”`, faults }
}

/** Another program holds the write lock, first briefly, then for longer than anyone waits. */
export async function foreignLock(bench: Bench): Promise<Row> {
  const faults: string[] = []
  const server = await startOn(bench)
  const holdFor = async (ms: number) => {
    const raw = new Database(fileOf(bench))
    raw.run('PRAGMA busy_timeout = 5000')
    raw.run('BEGIN IMMEDIATE')
    const asking = askAll(bench, server, { clients: 2, each: 1 })
    await Bun.sleep(ms)
    const reads = ms > 5000 ? await readFaults(bench, server) : []
    faults.push(...reads)
    raw.run('ROLLBACK')
    raw.close()
    return asking
  }
  const short = await holdFor(2000)
  if (short.some(({ paid }) => !paid)) faults.push(`held for 2 s: ${countOf(short)}`)
  const long = await holdFor(25_000)
  if (!long.every(({ reason }) => reason === 'storage_busy')) faults.push(countOf(long))
  const after = await askAll(bench, server, { clients: 2, each: 2 })
  if (after.some(({ paid }) => !paid)) faults.push(`afterwards: ${countOf(after)}`)
  const ready = await untilReady(server, 'ok')
  faults.push(...(await judgeStopped(bench, server)))
  const seen = `2 s: ${countOf(short)}; 25 s: ${countOf(long)}; then ${countOf(after)}, ${ready}`
  const expected = 'waited for; after the budget 503 `storage_busy`; over by itself'
  return { fault: 'a foreign `BEGIN IMMEDIATE`', expected, seen, faults }
}

/** The log of events goes where nothing can be written. */
export async function fullLog(bench: Bench): Promise<Row> {
  const server = await startUnder(bench, ['env'], { stderr: '/dev/full' })
  const asked = await askAll(bench, server)
  const faults = asked.some(({ paid }) => !paid) ? [countOf(asked)] : []
  faults.push(...(await judgeKilled(bench, server)))
  const expected = 'requests are not affected'
  return { fault: 'ENOSPC on stderr (`/dev/full`)', expected, seen: countOf(asked), faults }
}

/** Every write says that the file system is read-only, as after the kernel gave up on it. */
export async function readOnlyCalls(bench: Bench): Promise<Row> {
  const server = await startOn(bench)
  const strace = await inject(bench, server, { calls: 'pwrite64', what: 'error=EROFS' })
  const asked = await askAll(bench, server, { clients: 2, each: 2 })
  const faults = await readFaults(bench, server)
  const ready = await readyOf(server)
  await strace.stop()
  if (asked.some(({ status }) => status !== 503)) faults.push(countOf(asked))
  faults.push(...(await judgeKilled(bench, server)))
  const seen = `${countOf(asked)}; /readyz ${ready}`
  const expected = '503, reads go on; SQLite calls it an I/O error, so a restart is asked for'
  return { fault: '`pwrite64:error=EROFS`', expected, seen, faults }
}
