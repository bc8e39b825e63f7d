import { type Load, type LoadResult, runLoad } from './load.ts'
import { middle } from './table.ts'
import type { Running } from './targets.ts'

/** How long a round is and how many each target gets; tests of a change need fewer. */
export type Pace = { seconds: number; rounds: number }

export type Results = Map<Running, LoadResult[]>

type Rounds = {
  targets: readonly Running[]
  load: Load
  rounds: number
  /** Done before each round of every target. */
  between?: () => void
}

/** Loads every target in turn, `rounds` times, so that a busy minute of the machine hits all. */
export async function interleave(title: string, wish: Rounds): Promise<Results> {
  const { targets, load, rounds, between } = wish
  console.log(title)
  const results: Results = new Map(targets.map((target) => [target, []]))
  for (const target of targets) await warmUp(target, load)
  for (let round = 0; round < rounds; round++) {
    between?.()
    for (const target of targets) {
      const result = await runLoad(target, load)
      results.get(target)?.push(result)
      noteAnswered(target, load, result.requests)
      console.log(lineOf(target.name, result))
    }
  }
  return results
}

/** Requests of one kind that a process answers before it is measured: compilers take their time. */
const warmRequests = 30_000
/** How long that may take at most, in s; then it is measured as it is. */
const warmSeconds = 12
/** Of a warm-up: one connection alone would take minutes. */
const warmConnections = 32

/** What each process answered of each kind so far. */
const answered = new Map<string, number>()

/** The same for every target. What it answered before in this run of the bench counts. */
export async function warmUp(target: Running, load: Load): Promise<void> {
  const connections = Math.max(load.connections, warmConnections)
  for (let second = 0; second < warmSeconds; second++) {
    if ((answered.get(kindOf(target, load)) ?? 0) >= warmRequests) return
    const { requests } = await runLoad(target, { ...load, connections, seconds: 1 })
    noteAnswered(target, load, requests)
  }
}

function noteAnswered(target: Running, load: Load, requests: number): void {
  const kind = kindOf(target, load)
  answered.set(kind, (answered.get(kind) ?? 0) + requests)
}

const kindOf = ({ pid, path, name }: Running, { behaviour, stream }: Load): string =>
  path === undefined ? `${pid} ${name} ${behaviour} ${stream}` : `${pid} ${path}`

/** The median of all rounds of a target. */
export const median = (
  results: Results,
  target: Running,
  value: (result: LoadResult) => number,
): number => middle((results.get(target) ?? []).map(value))

export const cpuUs = (result: LoadResult): number => result.cpuUsPerRequest
/** The kB written per request: to disks, or to any file where the disks count nothing. */
export const writtenKb = (result: LoadResult): number =>
  (result.diskBytesPerRequest || result.passedBytesPerRequest) / 1000
/** Says so where the file system counts no `write_bytes`. */
export const writtenBy = (results: Results, target: Running): string =>
  median(results, target, (result) => result.diskBytesPerRequest) > 0 ? '' : ' (wchar)'
export const perSecond = (result: LoadResult): number => result.perSecond

function lineOf(name: string, result: LoadResult): string {
  const { p50, p99 } = result.latencyMs
  const failed = Object.entries(result.errors).map(([what, count]) => `${what}: ${count}`)
  return [
    `  ${name.padEnd(15)}${result.perSecond.toFixed(0).padStart(7)}/s`,
    `p50 ${p50.toFixed(2)} p99 ${p99.toFixed(2)} ms`,
    `first ${result.firstMs.p50.toFixed(2)} ms`,
    `${result.cpuUsPerRequest.toFixed(1)} µs CPU`,
    `${result.framesPerSecond.toFixed(0)} frames/s`,
    `${result.after?.rssMiB.toFixed(0)} MiB`,
    ...failed,
  ].join('  ')
}
