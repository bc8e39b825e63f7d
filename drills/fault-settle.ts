/** Each system call by which one end of a run goes to the disk fails, one after the other. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { pageBytes } from '../src/storage/db/engine/connection.ts'
import type { Server } from '../test/support/binary.ts'
import { untilFree } from '../test/support/judges.ts'
import { until } from '../test/support/runs.ts'
import { type Asked, ask } from './asked.ts'
import { type Bench, startOn } from './fault-bench.ts'
import { gatedModel } from './fault-gate.ts'
import {
  countOf,
  inject,
  judgeAnew,
  judgedAnew,
  judgeKilled,
  type Row,
  skippedRow,
} from './fault-tools.ts'

/** What the disk is written by. */
const writes = ['pwrite64', 'pwritev', 'write', 'ftruncate', 'fsync', 'fdatasync']
const isSync = (calls: string): boolean => calls.includes('sync')
/** No settle has as many calls of one kind. */
const most = 200
/** Calls without a hit, one after the other, that are taken for the end of a settle. */
const enough = 2

const expected =
  'a 503 or a whole answer; refused is not charged, unless a sync failed and the COMMIT is there'

/** Every call of a settle fails in turn with an error after which nothing is written any more. */
export async function failEachWrite(bench: Bench, error: string): Promise<Row> {
  const faults: string[] = []
  const all: Asked[] = []
  const points = await eachCall(async (calls, n) => {
    const server = await startOn(bench)
    const { asked, hits } = await settleUnder(bench, server, { calls, error, n })
    await server.stop('SIGKILL')
    if (hits === 0) return false
    all.push(asked)
    const judged = await judgedAnew(bench)
    const found = [...askedFaults(asked), ...judged.faults]
    const isStored = judged.fateOf([asked]).stored > 0
    if (!isSync(calls) && !asked.paid && isStored) found.push('it was refused and charged')
    faults.push(...named(`${calls} ${n}`, found))
    return true
  })
  return rowOf(error, points, all, faults)
}

/** Every call fails in turn as on a full disk: the process lives on. */
export async function fillEachWrite(bench: Bench, error: string): Promise<Row> {
  const faults: string[] = []
  const all: Asked[] = []
  let server = await startOn(bench)
  const points = await eachCall(async (calls, n) => {
    const { asked, hits } = await settleUnder(bench, server, { calls, error, n })
    const later = await ask(bench, server)
    if (later.reason === 'storage_failed') {
      // A failed sync lasts until a restart, unlike a full disk.
      faults.push(...(await judgeKilled(bench, server)))
      server = await startOn(bench)
    } else if (!later.paid) faults.push(`after ${calls} ${n}: ${later.status} ${later.reason}`)
    else faults.push(...named(`${calls} ${n}`, await heldFaults(bench, server)))
    if (hits === 0) return false
    all.push(asked)
    faults.push(...named(`${calls} ${n}`, askedFaults(asked)))
    return true
  })
  faults.push(...(await judgeKilled(bench, server)))
  return rowOf(error, points, all, faults)
}

/** A limit of the file's size lies within each frame in turn: that write is short. */
export async function cutEachWrite(bench: Bench): Promise<Row> {
  const fault = 'each write of a settle is cut short (`prlimit --fsize`)'
  if (!Bun.which('prlimit')) return skippedRow(fault, expected, 'prlimit is absent')
  const faults: string[] = []
  const all: Asked[] = []
  let whole = 0
  // Within the head of a frame, and within its page.
  for (let n = 0; whole < enough && n < most; n++) {
    const extra = Math.floor(n / 2) * frameBytes + (n % 2 === 0 ? 12 : 2000)
    const asked = await settleWithin(bench, extra)
    faults.push(...named(`${extra} bytes on`, [...askedFaults(asked), ...(await judgeAnew(bench))]))
    whole = asked.paid ? whole + 1 : 0
    if (!asked.paid) all.push(asked)
  }
  const seen = `cut at ${all.length} places: ${countOf(all)}`
  if (all.length === 0) faults.push('no write was short')
  return { fault, expected, seen, faults }
}

const frameBytes = 24 + pageBytes

type Failing = { calls: string; error: string; n: number }

/** One run, held by its model server until strace is there. */
async function settleUnder(bench: Bench, server: Server, { calls, error, n }: Failing) {
  const { gate } = bench
  const asking = await heldRun(bench, server, n % 2 === 0 || isSync(calls))
  const strace = await inject(bench, server, { calls, what: `error=${error}:when=${n}` })
  gate.open()
  const asked = await asking.end
  const hits = await strace.stop()
  return { asked, hits }
}

async function settleWithin(bench: Bench, extra: number): Promise<Asked> {
  const server = await startOn(bench)
  await ask(bench, server)
  const asking = await heldRun(bench, server, extra % 8 === 0)
  const { size } = statSync(join(bench.home.data, 'counterfoil.db-wal'))
  Bun.spawnSync(['prlimit', '--pid', String(server.pid), `--fsize=${size + extra}`])
  bench.gate.open()
  const asked = await asking.end
  await server.stop('SIGKILL')
  return asked
}

/** A run that has its hold. */
async function heldRun(bench: Bench, server: Server, keyed: boolean) {
  const { gate } = bench
  gate.close()
  const end = ask(bench, server, { door: 'runs', keyed, model: gatedModel })
  await until('the hold', () => gate.waiting() > 0)
  return { end }
}

/** Tries the first, second, … call of each kind until a settle has no more. */
async function eachCall(hits: (calls: string, n: number) => Promise<boolean>): Promise<string> {
  const found: string[] = []
  for (const calls of writes) {
    let [count, misses] = [0, 0]
    for (let n = 1; misses < enough && n <= most; n++) {
      if (await hits(calls, n)) [count, misses] = [count + 1, 0]
      else misses++
    }
    if (count > 0) found.push(`${count} × \`${calls}\``)
  }
  return found.join(', ')
}

function askedFaults({ paid, status, reason }: Asked): string[] {
  const isTold = paid || (status === 503 && reason?.startsWith('storage_'))
  return isTold ? [] : [`it was answered with ${status} ${reason}`]
}

/** The holds that remain although no run is open. */
async function heldFaults({ secret: key }: Bench, server: Server): Promise<string[]> {
  const isFree = await untilFree(server, key).catch(() => false)
  return isFree ? [] : [`${(await server.get('/v1/balance', key)).held_nusd} nUSD stay held`]
}

const named = (where: string, faults: string[]): string[] =>
  faults.map((fault) => `${where}: ${fault}`)

function rowOf(error: string, points: string, all: Asked[], faults: string[]): Row {
  if (all.length === 0) faults.push('nothing was injected')
  const stored = all.filter(({ paid, isReplayed }) => !paid && isReplayed).length
  const seen = `${points}: ${countOf(all)}; ${stored} in doubt turned out to be stored`
  return { fault: `${error} at each write of a settle`, expected, seen, faults }
}
