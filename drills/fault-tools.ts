/** The tools that make things fail, and how a fault is told in the report. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Server } from '../test/support/binary.ts'
import type { Asked } from './asked.ts'
import { type Bench, startOn } from './fault-bench.ts'
import { type Judged, judgeAll } from './fault-judge.ts'

/** One fault as the report has it. `faults` are what the service did wrong under it. */
export type Row = {
  fault: string
  expected: string
  seen: string
  faults: string[]
  /** Why it was not tried. */
  skipped?: string
}

export const skippedRow = (fault: string, expected: string, why: string): Row => ({
  fault,
  expected,
  seen: '',
  faults: [],
  skipped: why,
})

export const isRoot = process.getuid?.() === 0
export const has = (tool: string): boolean => Bun.which(tool) !== null

let traces = 0

/** What `strace` does to some system calls: `error=EIO:when=3`, `signal=KILL:when=7`. */
export type Injection = { calls: string; what: string }

export const straceWords = ({ calls, what }: Injection, out: string): string[] => [
  'strace',
  '-f',
  '-e',
  `trace=${calls}`,
  '-e',
  `inject=${calls}:${what}`,
  '-o',
  out,
]

/** Where a trace is written. */
export const traceFile = ({ home }: { home: Pick<Bench['home'], 'folder'> }): string =>
  join(home.folder, `trace-${++traces}`)

/** Does it to a server that runs, from now on; `stop` says how often it happened. */
export async function inject(
  bench: { home: Pick<Bench['home'], 'folder'> },
  server: Pick<Server, 'pid'>,
  injection: Injection,
) {
  const out = traceFile(bench)
  const said = `${out}.said`
  const words = [...straceWords(injection, out), '-p', String(server.pid)]
  const strace = Bun.spawn(words, { stdin: 'ignore', stdout: 'ignore', stderr: Bun.file(said) })
  const startedAt = performance.now()
  while (!/attached/.test(readOr(said))) {
    if (strace.exitCode !== null || performance.now() - startedAt > 10_000) {
      strace.kill('SIGKILL')
      throw new Error(`strace does not attach: ${readOr(said)}`)
    }
    await Bun.sleep(10)
  }
  return {
    async stop(): Promise<number> {
      if (strace.exitCode === null) strace.kill('SIGINT')
      await strace.exited
      return readOr(out).split('(INJECTED)').length - 1
    },
  }
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Whether strace may look into another process here. */
export async function canTrace(): Promise<boolean> {
  if (!has('strace')) return false
  const sleeper = Bun.spawn(['sleep', '5'])
  const strace = Bun.spawn(['strace', '-p', String(sleeper.pid)], { stderr: 'pipe' })
  await Bun.sleep(300)
  const isAttached = strace.exitCode === null
  strace.kill('SIGINT')
  sleeper.kill('SIGKILL')
  await Promise.all([strace.exited, sleeper.exited])
  return isAttached
}

/** What supervisors are told: `ok`, or why not. */
export async function readyOf(server: Server): Promise<string> {
  const answer = await server.call('/readyz')
  const body = (await answer.json()) as { error?: { metadata?: { reason?: string } } }
  return answer.ok ? 'ok' : (body.error?.metadata?.reason ?? String(answer.status))
}

/** Waits until supervisors are told so, at most `ms` milliseconds. @returns what they are told. */
export async function untilReady(server: Server, wanted: string, ms = 15_000): Promise<string> {
  const end = performance.now() + ms
  for (;;) {
    const ready = await readyOf(server)
    if (ready === wanted || performance.now() > end) return ready
    await Bun.sleep(50)
  }
}

/** Starts again after a fault and says what is not as it must be. */
export const judgeAnew = async (bench: Bench): Promise<string[]> => (await judgedAnew(bench)).faults

/** Kills a server, and says what the next one finds wrong. */
export async function judgeKilled(bench: Bench, server: Server): Promise<string[]> {
  await server.stop('SIGKILL')
  return judgeAnew(bench)
}

/** Judges a server that goes on, and stops it. */
export async function judgeStopped(bench: Bench, server: Server): Promise<string[]> {
  const { faults } = await judgeAll(bench, server)
  await server.stop('SIGTERM')
  return faults
}

/** Starts after a fault and judges, with the fate of each request. */
export async function judgedAnew(bench: Bench): Promise<Judged> {
  const again = await startOn(bench)
  const judged = await judgeAll(bench, again)
  const ended = await again.stop('SIGTERM')
  if (ended !== 0) {
    const said = readOr(bench.home.printed.stderr).trim().split('\n').at(-1)
    judged.faults.push(`SIGTERM ended with ${ended}: ${said?.slice(0, 600)}`)
  }
  return judged
}

/** How many answers there were of each kind: `12 × 200, 4 × storage_full`. */
export function countOf(asked: Asked[]): string {
  const counts = new Map<string, number>()
  for (const { status, reason, paid } of asked) {
    const kind = paid ? '200' : (reason ?? (status === 0 ? 'broken' : String(status)))
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return [...counts].map(([kind, count]) => `${count} × ${kind}`).join(', ')
}

/** Reads go on: what the account has is told. */
export async function readFaults(bench: Bench, server: Server): Promise<string[]> {
  const faults: string[] = []
  for (const path of ['/v1/balance', '/v1/runs?limit=1', '/v1/models']) {
    const { status } = await server.call(path, { key: bench.secret })
    if (status !== 200) faults.push(`${path} is ${status}`)
  }
  return faults
}
