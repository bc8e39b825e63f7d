import { heapSize } from 'bun:jsc'
import type { Json } from '../../src/kernel/canonical.ts'
import { Refusal } from '../../src/kernel/refusal.ts'
import { type Prng, prng } from '../ledger/prng.ts'
import { mutateBytes, mutateJson, mutateText } from './mutate.ts'

/**
 * A reader of input from outside. `good` are inputs that it accepts; the fuzzer tries variants of
 * them. `read` returns any value, and throws an Error of its own if the reader broke a promise.
 */
export type Target = {
  name: string
  /** Whether a thrown error is the reader's documented no; else a Refusal is, and nothing more. */
  isNo?: (error: unknown) => boolean
  /** What the reader says no to, to begin from as well. */
  badJson?: readonly Json[]
} & (
  | { good: readonly string[]; goodJson?: never; goodBytes?: never; read: Read<string> }
  | { goodJson: readonly Json[]; good?: never; goodBytes?: never; read: Read<string> }
  | { goodBytes: readonly Uint8Array[]; good?: never; goodJson?: never; read: Read<Uint8Array> }
)

type Read<Input> = (input: Input, prng: Prng) => unknown

/** Said by a target of what its reader promises. @throws Error */
export function must(holds: boolean, promise: string): void {
  if (!holds) throw new Error(`the reader breaks its promise: ${promise}`)
}

/** What was found out about a target. Times in ms, memory in MiB. */
export type Tried = {
  name: string
  inputs: number
  slowestMs: number
  grownMiB: number
  faults: string[]
}

export type Bounds = {
  /** Longer than this, three times in a row, is a hang. */
  mostMs: number
  /** What may stay behind after all inputs. Infinity where it is not asked: asking collects garbage twice. */
  mostMiB: number
}

/** Wide enough for a machine that has other work to do. */
export const testBounds: Bounds = { mostMs: 1000, mostMiB: 64 }
export const drillBounds: Bounds = { mostMs: 50, mostMiB: 64 }

/** Faults of one target that are told; one is enough to find its cause. */
const mostFaults = 5

/** How long, or how often, a target is tried. */
export type Effort = { inputs: number } | { ms: number }

/** Tries a target; the inputs follow from the seed and their number alone. */
export async function tryTarget(
  target: Target,
  seed: number,
  effort: Effort,
  bounds: Bounds = testBounds,
): Promise<Tried> {
  const tried: Tried = { name: target.name, inputs: 0, slowestMs: 0, grownMiB: 0, faults: [] }
  tried.faults.push(...(await refusedGood(target)))
  const isWeighed = Number.isFinite(bounds.mostMiB)
  const before = isWeighed ? heapMiB() : 0
  const until = 'ms' in effort ? performance.now() + effort.ms : Number.POSITIVE_INFINITY
  const most = 'inputs' in effort ? effort.inputs : Number.POSITIVE_INFINITY
  while (tried.inputs < most && performance.now() < until && tried.faults.length < mostFaults) {
    const number = tried.inputs++
    const { ms, fault } = await tryInput(target, seed, number, bounds)
    tried.slowestMs = Math.max(tried.slowestMs, ms)
    if (fault !== undefined) tried.faults.push(`${target.name}, ${seed}/${number}: ${fault}`)
  }
  tried.grownMiB = isWeighed ? Math.max(0, heapMiB() - before) : 0
  if (tried.grownMiB > bounds.mostMiB) {
    tried.faults.push(`${target.name}, ${seed}: keeps ${tried.grownMiB.toFixed(0)} MiB`)
  }
  return tried
}

/** The memory in use by JavaScript once all garbage is collected, in MiB. */
export function heapMiB(): number {
  Bun.gc(true)
  return heapSize() / 2 ** 20
}

/** The input of a number, as it was made from the seed: for anyone who looks for the cause. */
export function inputOf(target: Target, seed: number, number: number): string | Uint8Array {
  return makeInput(target, numbered(target, seed, number))
}

async function tryInput(target: Target, seed: number, number: number, bounds: Bounds) {
  let ms = Number.POSITIVE_INFINITY
  let fault: string | undefined
  // A pause of the machine or of the collector is not the reader's.
  for (let times = 0; times < 3 && ms > bounds.mostMs && fault === undefined; times++) {
    const random = numbered(target, seed, number)
    const input = makeInput(target, random)
    const spent = stopwatch()
    fault = await read(target, input, random)
    ms = Math.min(ms, spent())
  }
  if (fault === undefined && ms > bounds.mostMs) fault = `took ${ms.toFixed(0)} ms`
  return { ms, fault }
}

/** The least that a work can have taken: a busy machine adds to the wall's time, not to our own. */
export function stopwatch(): () => number {
  const begun = performance.now()
  const { user, system } = process.cpuUsage()
  return () => {
    const wallMs = performance.now() - begun
    // Asking for the time of the processor costs more than most inputs.
    if (wallMs < 5) return wallMs
    const used = process.cpuUsage()
    return Math.min(wallMs, (used.user - user + used.system - system) / 1000)
  }
}

/** What is wrong with how an input was read. */
async function read(target: Target, input: string | Uint8Array, random: Prng) {
  const isNo = target.isNo ?? isRefusal
  try {
    const answer = (target.read as (input: string | Uint8Array, prng: Prng) => unknown)(
      input,
      random,
    )
    if (answer instanceof Promise) await answer
  } catch (error) {
    if (!isNo(error)) return `threw ${textOf(error)}`
  }
  return undefined
}

/** A good input that is refused would make all others worth little. */
async function refusedGood(target: Target): Promise<string[]> {
  const faults: string[] = []
  for (const [i, input] of goodOf(target).entries()) {
    try {
      await (target.read as (input: string | Uint8Array, prng: Prng) => unknown)(input, prng(0))
    } catch (error) {
      faults.push(`${target.name}: good input ${i} is refused: ${textOf(error)}`)
    }
  }
  return faults
}

function goodOf({ good, goodJson, goodBytes }: Target): readonly (string | Uint8Array)[] {
  return goodBytes ?? good ?? goodJson.map((value) => JSON.stringify(value))
}

function makeInput(
  { good, goodJson, goodBytes, badJson = [] }: Target,
  random: Prng,
): string | Uint8Array {
  if (goodJson) return mutateJson(random, random.pick([...goodJson, ...badJson]))
  if (good) return mutateText(random, random.pick(good), good)
  const texts = goodBytes.map((bytes) => Buffer.from(bytes).toString())
  return mutateBytes(random, random.pick(goodBytes), texts)
}

/** A generator of its own for each input, so that one can be made again without the others. */
const numbered = ({ name }: Target, seed: number, number: number): Prng =>
  prng(Bun.hash.crc32(`${name}/${seed}/${number}`))

export const isRefusal = (error: unknown): boolean =>
  error instanceof Refusal && error.type !== 'internal_error'

const textOf = (error: unknown): string =>
  error instanceof Error
    ? `${error.constructor.name}: ${error.message.slice(0, 200)}${frameOf(error)}`
    : String(error).slice(0, 200)

const frameOf = ({ stack = '' }: Error): string => {
  const frame = stack.split('\n').find((line) => /\bsrc\//.test(line))
  return frame === undefined ? '' : ` (${frame.trim().replace(/^.*\b(src\/[^)]*)\)?$/, '$1')})`
}
