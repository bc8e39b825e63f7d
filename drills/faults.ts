/**
 * Breaks the disk, the files, the clock and the process under the executable with real tools, one
 * fault after the other, and checks after each that a restart holds what clients were told.
 */
import { must } from '../test/support/binary.ts'
import { fault } from '../test/support/promise.ts'
import { type Bench, makeBench } from './fault-bench.ts'
import {
  damagedHeader,
  damagedPages,
  deleted,
  foreignLock,
  fullDisk,
  fullLog,
  readOnly,
  readOnlyCalls,
} from './fault-disk.ts'
import { killBackup, killMigration, killRecovery } from './fault-kills.ts'
import { clockJumps, noDescriptors, stopped, stoppedLong } from './fault-machine.ts'
import { cutEverywhere } from './fault-power.ts'
import { littleMemory, pinnedReader, rotatedLog } from './fault-pressure.ts'
import { cutEachWrite, failEachWrite, fillEachWrite } from './fault-settle.ts'
import { failOnce, fullFor, killAt, killEnding } from './fault-syscalls.ts'
import { canTrace, type Injection, isRoot, type Row, skippedRow } from './fault-tools.ts'
import { headOf, rowOf } from './report.ts'

export type Fault = {
  name: string
  needs?: 'trace' | 'root'
  run(bench: Bench): Promise<Row>
}

const from = (first: number, last: number, step = 1): number[] =>
  Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => first + i * step)

const inject = (calls: string, what: string): Injection => ({ calls, what })

const traced = (
  calls: string,
  what: (n: number) => string,
  points: number[],
  run: (bench: Bench, injection: Injection) => Promise<Row>,
  part = '',
): Fault[] =>
  points.map((n) => ({
    name: `${part}${calls}:${what(n)}`,
    needs: 'trace',
    run: (bench) => run(bench, inject(calls, what(n))),
  }))

/** What `bun run drill crash` does too: each write of a settle, and each frame of the log. */
export const settleFaults: Fault[] = [
  {
    name: 'every write EIO',
    needs: 'trace',
    run: (bench) => failEachWrite(bench, 'EIO'),
  },
  {
    name: 'every write ENOSPC',
    needs: 'trace',
    run: (bench) => fillEachWrite(bench, 'ENOSPC'),
  },
  { name: 'every write short', run: cutEachWrite },
  { name: 'cut log', run: () => cutEverywhere(8) },
]

// Only these drills see the following faults, no test does.
fault`1: the process is killed before the hold of a run is stored → the connection breaks, nothing
  is recorded; asked again it runs [faults fsync:signal=KILL, faults pwrite64:signal=KILL]`
fault`11: a write fails or is cut short → as a sync that fails; after a restart every page is whole
  [crash, faults every write EIO, faults every write short]`
fault`13: the disk of the log of events is full; SQLite needs none for what is temporary → requests
  are not affected [faults full log]`
fault`19: a reader stays, so that the write-ahead log only grows → a warning, no outage; the log is
  small again when the reader is gone [faults reader]`
fault`20: no file descriptors are left → an answer or a 5xx for each; it recovers when they are free
  [faults descriptors]`
fault`40: its log of events is moved away, or copied and emptied → no line is lost or torn; requests
  are not affected [faults rotation]`

/** A hold writes about ten frames of two calls each, a settle as many; both end in an fsync. */
export const everyFault: Fault[] = [
  ...traced('fsync', (n) => `error=EIO:when=${n}`, from(1, 6), failOnce),
  ...traced('pwrite64', (n) => `error=EIO:when=${n}`, [1, 2, 5, 12, 23, 40, 61], failOnce),
  ...traced('pwrite64', (n) => `error=ENOSPC:when=${n}..${n + 60}`, [3, 20, 47], fullFor),
  { name: 'EROFS', needs: 'trace', run: readOnlyCalls },
  ...traced('fsync', (n) => `signal=KILL:when=${n}`, from(1, 20), killAt),
  ...traced('pwrite64', (n) => `signal=KILL:when=${n}`, from(1, 20), killAt),
  ...traced('pwrite64', (n) => `signal=KILL:when=${n}`, from(25, 105, 20), killAt),
  ...traced('fsync', (n) => `signal=KILL:when=${n}`, from(1, 4), killEnding, 'settle '),
  ...traced('pwrite64', (n) => `signal=KILL:when=${n}`, from(1, 24), killEnding, 'settle '),
  { name: 'recovery', needs: 'trace', run: (bench) => killRecovery(bench, 'fsync', 8) },
  { name: 'recovery writes', needs: 'trace', run: (bench) => killRecovery(bench, 'pwrite64', 12) },
  { name: 'migration', needs: 'trace', run: () => killMigration('fsync', from(1, 8)) },
  {
    name: 'migration writes',
    needs: 'trace',
    run: () => killMigration('pwrite64', from(1, 41, 4)),
  },
  { name: 'backup', needs: 'trace', run: (bench) => killBackup(bench, 'fsync', from(1, 6)) },
  {
    name: 'backup writes',
    needs: 'trace',
    run: (bench) => killBackup(bench, 'pwrite64', from(1, 121, 15)),
  },
  ...settleFaults,
  { name: 'full disk', needs: 'root', run: fullDisk },
  { name: 'full log', run: fullLog },
  { name: 'read-only', needs: 'root', run: readOnly },
  { name: 'deleted', run: deleted },
  { name: 'pages', run: damagedPages },
  { name: 'header', run: damagedHeader },
  { name: 'lock', run: foreignLock },
  { name: 'reader', run: pinnedReader },
  { name: 'memory', needs: 'root', run: littleMemory },
  { name: 'rotation', run: rotatedLog },
  { name: 'descriptors', run: noDescriptors },
  { name: 'stopped', run: (bench) => stopped(bench, 5) },
  { name: 'stopped long', run: (bench) => stoppedLong(bench, 65) },
  { name: 'clock', run: clockJumps },
]

/** Tries the faults whose name contains one of `only`, or all of them, on one data folder. */
export async function drillFaults(
  faults: Fault[],
  say: (line: string) => void = () => {},
): Promise<{ rows: Row[]; faults: string[]; build: string }> {
  const isTraceable = await canTrace()
  await using bench = await makeBench()
  const rows: Row[] = []
  for (const fault of faults) {
    const row = await tryFault(fault, bench, isTraceable)
    rows.push(row)
    say(`${row.fault}: ${row.skipped ? `skipped: ${row.skipped}` : row.seen}`)
    for (const one of row.faults.slice(0, 5)) say(`  FAULT: ${one}`)
  }
  const build = await must(bench.home, 'version', '--json')
  return { rows, faults: rows.flatMap((row) => row.faults), build: build.trim() }
}

async function tryFault(fault: Fault, bench: Bench, isTraceable: boolean): Promise<Row> {
  const { name, needs } = fault
  if (needs === 'trace' && !isTraceable) {
    return skippedRow(name, '', 'strace is absent or may not trace here')
  }
  if (needs === 'root' && !isRoot) return skippedRow(name, '', 'only root may mount')
  try {
    return await fault.run(bench)
  } catch (error) {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { fault: name, expected: '', seen: 'the drill itself failed', faults: [words] }
  }
}

type Result = Awaited<ReturnType<typeof drillFaults>>

/** The section of the report that is about broken disks, files and clocks. */
export function faultsReport({ rows, build }: Result): string {
  const skipped = rows.filter((row) => row.skipped !== undefined).length
  return `${headOf('Broken disks, files and clocks', 'faults', build)}

${rows.length} faults, nearly all on one data folder, ${skipped} of them skipped.
\`call:error=…:when=n\` is what \`strace\` did to the n-th such call of the serving thread. Clients
run models, plain and streamed, each under an Idempotency-Key of its own. After each fault the
server starts again and is checked: every answer that a client holds is told again as it was, what
had no answer is asked again under its key, and then each key was charged exactly once; the ledger
is balanced, nothing is held, \`counterfoil doctor\` finds every page whole, and SIGTERM ends
with 0.

${faultTable(rows)}
`
}

/** How many faults there were, and a line for each row. */
export function faultTable(rows: readonly Row[]): string {
  const count = rows.reduce((sum, { faults }) => sum + faults.length, 0)
  const lines = rows.map(({ fault, expected, seen, faults, skipped }) => {
    const told = skipped === undefined ? seen : `skipped: ${skipped}`
    return rowOf(fault, expected, told, skipped === undefined ? faults.length : '–')
  })
  return `**${count} faults of the service.**

| fault | expected | seen | wrong |
|---|---|---|---|
${lines.join('\n')}`
}
