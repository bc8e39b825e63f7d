/** Kills in what a process does once: its recovery, its migration, its backup. */
import { Database } from 'bun:sqlite'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Home, makeHome, spawnBinary } from '../test/support/binary.ts'
import { findingsOf } from '../test/support/judges.ts'
import { askAll } from './asked.ts'
import { type Bench, oneProcess, startOn } from './fault-bench.ts'
import {
  type Injection,
  judgeAnew,
  judgeStopped,
  type Row,
  straceWords,
  traceFile,
} from './fault-tools.ts'

/** How long a command that was to be killed may live, in ms; a server lives on. */
const mostMs = 4000

/** Killed with runs in flight, then at each of the first calls of every restart. */
export async function killRecovery(bench: Bench, calls: string, most: number): Promise<Row> {
  const server = await startOn(bench)
  const asking = askAll(bench, server, { clients: 8, each: 4, model: 'stub/pace-300' })
  await Bun.sleep(500)
  await server.stop('SIGKILL')
  await asking
  let killed = 0
  for (let n = 1; n <= most; n++) {
    const injection = { calls, what: `signal=KILL:when=${n}` }
    if (await diesUnder(bench.home, injection, ['serve'])) killed++
  }
  const faults = await judgeAnew(bench)
  if (killed === 0) faults.push('no restart was killed')
  const expected = 'the last restart ends what the first left open, once, at no charge'
  const seen = `${killed} of ${most} restarts were killed`
  return { fault: `recovery, at each \`${calls}\``, expected, seen, faults }
}

/** The first start, which makes the schema, killed at each call in a folder of its own. */
export async function killMigration(calls: string, points: number[]): Promise<Row> {
  const faults: string[] = []
  let killed = 0
  for (const n of points) {
    const home = await makeHome()
    try {
      const injection = { calls, what: `signal=KILL:when=${n}` }
      if (await diesUnder(home, injection, ['serve'])) killed++
      const server = await home.start()
      await server.stop('SIGTERM')
      const found = await findingsOf(home)
      const bad = found.filter(({ part, status }) => part === 'database' && status === 'fail')
      if (bad.length > 0) faults.push(`at ${n}: ${JSON.stringify(bad)}`)
    } catch (error) {
      faults.push(`at ${n}: ${String(error).slice(0, 200)}`)
    } finally {
      await home.remove()
    }
  }
  if (killed === 0) faults.push('no first start was killed')
  const expected = 'the next start has the whole schema, or makes it'
  const seen = `${killed} of ${points.length} first starts were killed; each next one served`
  return { fault: `migration, at some \`${calls}\``, expected, seen, faults }
}

/** A backup beside a server, killed at each call. */
export async function killBackup(bench: Bench, calls: string, points: number[]): Promise<Row> {
  const faults: string[] = []
  const server = await startOn(bench)
  const asking = askAll(bench, server, { clients: 2, each: 30 })
  let killed = 0
  let whole = 0
  for (const n of points) {
    const file = join(bench.home.folder, `backup-${n}.db`)
    const injection = { calls, what: `signal=KILL:when=${n}` }
    if (await diesUnder(bench.home, injection, ['backup', file])) killed++
    if (!existsSync(file)) continue
    whole++
    const raw = new Database(file, { readonly: true })
    const told = raw.query('PRAGMA integrity_check').values()[0]?.[0]
    raw.close()
    if (told !== 'ok') faults.push(`at ${n} the file is there and not whole: ${told}`)
  }
  await asking
  faults.push(...(await judgeStopped(bench, server)))
  for (const name of readdirSync(bench.home.folder)) {
    if (/^(backup-|\.counterfoil-)/.test(name)) {
      rmSync(join(bench.home.folder, name), { recursive: true })
    }
  }
  if (killed === 0) faults.push('no backup was killed')
  const expected = 'the file is there whole or not at all; the server does not notice'
  const seen = `${killed} of ${points.length} were killed; ${whole} files are there, all whole`
  return { fault: `backup, at some \`${calls}\``, expected, seen, faults }
}

/** Whether a command ended by the kill, and not by itself or by our patience. */
async function diesUnder(home: Home, injection: Injection, args: string[]): Promise<boolean> {
  const under = straceWords(injection, traceFile({ home }))
  const child = spawnBinary(home, args, { under, env: oneProcess })
  const ended = await Promise.race([child.exited.then(() => true), Bun.sleep(mostMs)])
  // strace passes it on.
  if (ended === undefined) child.kill('SIGTERM')
  await child.exited
  return ended === true && child.signalCode === 'SIGKILL'
}
