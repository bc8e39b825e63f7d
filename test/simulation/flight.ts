import type { Service } from '../../src/app/wiring.ts'
import type { FailureReason, JsonObject } from '../../src/models/upstream/upstream.ts'
import type { LiveRun } from '../../src/runs/live-run.ts'
import { stream } from '../../src/runs/stream.ts'
import { cameOf, type Sim, type Trace } from './command.ts'
import type { ModelRun } from './model.ts'
import { costOf } from './model-prices.ts'
import { type Channel, finish, piece, usageChunk } from './upstream.ts'
import type { Node } from './world.ts'

/** A run that streams: its model server, and what passed through the service so far. */
export type Flight = {
  id: string
  tag: string
  node: Node
  trace: Trace
  channel: Channel
  live: LiveRun
  /** Tokens that it may read and say at most. */
  input: number
  output: number
  inputBytes: number
  bytes: number
  deltas: number
  /** What its client had heard when it hung up, and is read to its end all the same. */
  heard?: number
  /** How many model servers have failed before the first byte. */
  failed: number
  /** What it comes to; never, if its process dies. */
  done: Promise<string>
}

export const bodyOf = (
  tag: string,
  letters: number,
  most: number,
  model = 'sim/chat',
): JsonObject => ({
  model,
  messages: [{ role: 'user', content: `${tag} ${'x'.repeat(letters)}` }],
  max_tokens: most,
})

/** What is read of a request, in bytes: a token at most each. */
export const inputOf = ({ messages }: JsonObject): number =>
  Buffer.byteLength(JSON.stringify({ messages }))

/** Lets a run that has begun stream, and waits until its model server is asked. */
export async function launch(sim: Sim, deps: Service, flight: Omit<Flight, 'done'>): Promise<void> {
  const { live, channel } = flight
  const done = cameOf(stream(deps, live, { send: () => undefined }))
  sim.flights.set(flight.id, { ...flight, done })
  await Promise.race([channel.idle(), done])
}

/** The model server says a piece, which is taken before this returns. */
export async function sayPiece(flight: Flight, letters: number): Promise<void> {
  flight.channel.push({ say: [piece('w'.repeat(letters))] })
  flight.bytes += letters
  flight.deltas++
  await Promise.race([flight.channel.idle(), flight.done])
}

/** It ends, with this report or none. */
export function sayEnd({ channel }: Flight, usage: JsonObject | undefined): void {
  channel.push({ say: usage ? [finish, usageChunk(usage)] : [finish] })
  channel.push('end')
}

type Flown = Pick<Flight, 'input' | 'output' | 'inputBytes' | 'bytes' | 'heard'>

/**
 * What a whole answer costs: a report is believed only as far as it can be true, else it is counted
 * at four bytes a token; never above what is held.
 */
export function chargeOf(
  flight: Flown,
  { discountBps, quoted }: ModelRun,
  usage: JsonObject | undefined,
  bytesPerToken = 4,
): bigint {
  const { bytes, heard = bytes } = flight
  // The parts before and after a hang-up are counted apart.
  const counted = Math.ceil(heard / bytesPerToken) + Math.ceil((bytes - heard) / bytesPerToken)
  const [prompt, said] = [countIn(usage, 'prompt_tokens'), countIn(usage, 'completion_tokens')]
  const isBlank = prompt === 0 && !said
  const told = isBlank ? undefined : prompt
  const read = told ?? Math.max(1, Math.ceil(flight.inputBytes / bytesPerToken))
  const used = [Math.min(read, flight.input), Math.min(said || counted, flight.output)] as const
  return costOf(...used, discountBps, quoted)
}

/**
 * What a run costs that broke off: what was said, and its input. Where nothing was, its input if
 * its client stopped it. A tenth less than four bytes count as a token where the client did.
 */
export function brokenCharge(flight: Flight, run: ModelRun, isClients: boolean): bigint {
  if (flight.bytes === 0 && !isClients) return 0n
  return chargeOf(flight, run, undefined, isClients ? 3.6 : 4)
}

function countIn(usage: JsonObject | undefined, field: string): number | undefined {
  const value = usage?.[field]
  const isCount = typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
  return isCount ? Math.ceil(value) : undefined
}

/** What a caller is told about a model server that failed. */
export function refusalFor(reason: FailureReason): string {
  if (reason === 'timeout') return 'upstream_timeout'
  if (reason === 'busy') return 'unavailable'
  return reason === 'rejected' ? 'invalid_request' : 'upstream_error'
}
