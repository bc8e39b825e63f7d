/** Power loss: what the disk has is some beginning of the write-ahead log. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditStore } from '../src/ledger/store/audit.ts'
import { readWholeLogs } from '../src/proof/log/store/whole.ts'
import { pageBytes } from '../src/storage/db/engine/connection.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { rows } from '../src/storage/db/sql/query-steps.ts'
import { logFaults } from '../test/simulation/invariants.ts'
import { type Asked, ask } from './asked.ts'
import { type Bench, makeBench, startOn } from './fault-bench.ts'
import { doctor } from './fault-judge.ts'
import { judgeAnew, type Row } from './fault-tools.ts'
import { sortOf } from './load.ts'

const headBytes = 32
const frameBytes = 24 + pageBytes
const clients = 6
/** Commands of the executable that look at a cut log too. */
const looks = 8

/** An answer, and how many frames the log had at most when it came; a log begins again at times. */
type Mark = { asked: Asked; log: string; frames: number }

/**
 * Cuts the log of a killed server at every frame, in the middle of each, and with each zeroed or
 * overwritten, and opens what is left; `each` is how many runs every client has made.
 */
export async function cutEverywhere(each: number): Promise<Row> {
  await using bench = await makeBench()
  const file = join(bench.home.data, 'counterfoil.db')
  const marks = await markedLoad(bench, `${file}-wal`, each)
  const [base, log] = [readFileSync(file), readFileSync(`${file}-wal`)]
  const least = writtenBack(readFileSync(`${file}-shm`))
  const faults: string[] = []
  const folder = join(bench.home.folder, 'cut')
  mkdirSync(folder)
  const cuts = cutsOf(log).filter(({ frames }) => frames >= least)
  const states = new Map<number, string>()
  for (const [i, cut] of cuts.entries()) {
    const copy = join(folder, `${i}.db`)
    copyFileSync(file, copy)
    writeFileSync(`${copy}-wal`, cut.log())
    const found = await lookAt(copy, marks, cut.frames)
    const known = states.get(cut.commit)
    states.set(cut.commit, known ?? found.state)
    if (known && known !== found.state) found.faults.push('half of a COMMIT is there')
    if (i % Math.ceil(cuts.length / looks) === 0) {
      found.faults.push(...(await doctorOf(bench, cut.log(), { file, base, log })))
    }
    faults.push(...found.faults.map((fault) => `${cut.how} ${cut.frames}: ${fault}`))
    // A closed connection lives until it is collected, and knows its file by the inode: that of a
    // file that is gone would come back as the next one's.
    truncateSync(copy)
    rmSync(`${copy}-wal`, { force: true })
  }
  faults.push(...(await judgeAnew(bench)))
  const frames = framesIn(log.length)
  const acknowledged = marks.filter(({ asked }) => asked.paid || asked.accepted).length
  if (new Set(states.values()).size < acknowledged / clients) faults.push('hardly any COMMIT')
  const seen =
    `${cuts.length} cuts of ${frames - least} frames, ${states.size} COMMITs; ` +
    `${acknowledged} answers, each there from the frames on that the log had when it came`
  const fault = 'power loss: the log cut off, torn or zeroed at every frame'
  const expected = 'up to the last whole COMMIT all is there, the next is absent; it balances'
  return { fault, expected, seen, faults }
}

/** Runs of every sort; then the process is killed. */
async function markedLoad(bench: Bench, wal: string, each: number): Promise<Mark[]> {
  const server = await startOn(bench)
  const marks: Mark[] = []
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let turn = 0; turn < each; turn++) {
        const asked = await ask(bench, server, { ...sortOf(client + turn), model: 'stub/pace-5' })
        const log = readFileSync(wal)
        marks.push({ asked, log: nameOf(log), frames: framesIn(log.length) })
      }
    }),
  )
  await server.stop('SIGKILL')
  const last = nameOf(readFileSync(wal))
  // What an earlier log held is in the database.
  return marks.map((mark) => (mark.log === last ? mark : { ...mark, frames: 0 }))
}

/** Its salts. */
const nameOf = (log: Buffer): string => log.toString('hex', 16, 24)

const framesIn = (bytes: number): number => Math.floor((bytes - headBytes) / frameBytes)

/**
 * How many frames SQLite wrote, or began to write, into the database: `nBackfillAttempted` of its
 * index of the log. Before that it synced them, so that no power loss cuts them.
 */
const writtenBack = (index: Buffer): number => index.readUInt32LE(128)

/** `commit` is the last frame of the last whole COMMIT in `log`; all before `frames` is right. */
type Cut = { how: string; frames: number; commit: number; log(): Buffer }

function cutsOf(log: Buffer): Cut[] {
  const frames = framesIn(log.length)
  const commits: number[] = [0]
  for (let frame = 1; frame <= frames; frame++) {
    // How many pages the database has after it: 0 in the middle of a COMMIT.
    const pages = log.readUInt32BE(endOf(frame - 1) + 4)
    commits.push(pages > 0 ? frame : (commits[frame - 1] ?? 0))
  }
  const cuts: Cut[] = []
  const add = (how: string, whole: number, cut: () => Buffer): void =>
    void cuts.push({ how, frames: whole, commit: commits[whole] ?? 0, log: cut })
  for (let frame = 0; frame <= frames; frame++) {
    add('cut at', frame, () => log.subarray(0, endOf(frame)))
    if (frame === frames) break
    add('cut behind', frame, () => log.subarray(0, endOf(frame) + 2000))
    add('zeroed behind', frame, () => {
      return Buffer.from(log.subarray(0, endOf(frame + 1))).fill(0, endOf(frame))
    })
    add('torn behind', frame, () => tornAt(log, endOf(frame)))
  }
  return cuts
}

/** Later frames came to the disk, and half of this one did not. */
function tornAt(log: Buffer, from: number): Buffer {
  const torn = Buffer.from(log)
  for (let i = from + frameBytes / 2; i < from + frameBytes; i++) torn[i] = ~(torn[i] ?? 0)
  return torn
}

const endOf = (frame: number): number => headBytes + frame * frameBytes

/** What a database says of itself, and of the answers that it must have. */
async function lookAt(file: string, marks: readonly Mark[], frames: number) {
  const db = openSqlite(file)
  try {
    const faults = await auditStore(db).faults(Number.MAX_SAFE_INTEGER)
    faults.push(...(await readWholeLogs(db)).faults, ...(await logFaults(db)))
    const { runs, openRuns, accounts, idempotentCalls } = db.tables
    const found = await db.read(function* (q) {
      return {
        runs: yield* rows(q.select({ id: runs.id, cost: runs.cost }).from(runs)),
        open: yield* rows(q.select({ id: openRuns.id }).from(openRuns)),
        accounts: yield* rows(q.select().from(accounts)),
        calls: yield* rows(q.select().from(idempotentCalls)),
      }
    })
    const costs = new Map(found.runs.map(({ id, cost }) => [id, cost]))
    const open = new Set(found.open.map(({ id }) => id))
    const replies = new Map(found.calls.map(({ runId, reply }) => [runId, reply]))
    for (const { asked, frames: least } of marks) {
      const { paid, keyed, accepted } = asked
      if (least > frames) continue
      const isThere = accepted === undefined || costs.has(accepted) || open.has(accepted)
      if (!isThere) faults.push(`${accepted} was accepted and is gone`)
      if (!paid) continue
      const cost = costs.get(paid.runId)
      if (cost !== BigInt(paid.cost)) faults.push(`${paid.runId} cost ${paid.cost}: ${cost}`)
      if (keyed && !replies.get(paid.runId)) faults.push(`${paid.runId} has no sealed answer`)
    }
    for (const { asked } of marks.filter(({ asked }) => asked.paid && asked.keyed)) {
      const isCharged = (costs.get(asked.paid?.runId ?? '') ?? 0n) > 0n
      const isSealed = Boolean(replies.get(asked.paid?.runId ?? ''))
      if (isCharged !== isSealed) faults.push(`${asked.paid?.runId} is charged or sealed alone`)
    }
    const state = JSON.stringify([found, [...replies.keys()]], (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    return { state: String(Bun.hash(state)), faults }
  } finally {
    await db.close()
  }
}

type Files = { file: string; base: Buffer; log: Buffer }

/** What `counterfoil doctor` says over a cut log; then all is as it was. */
async function doctorOf(bench: Bench, cut: Buffer, { file, base, log }: Files): Promise<string[]> {
  writeFileSync(`${file}-wal`, cut, { mode: 0o600 })
  const faults = await doctor(bench)
  rmSync(`${file}-shm`, { force: true })
  writeFileSync(file, base)
  writeFileSync(`${file}-wal`, log, { mode: 0o600 })
  return faults
}
