/** Runs a request and sends each chunk as it comes; the finishing chunks wait for the COMMIT. */
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import type { StopSignal } from '../kernel/stop.ts'
import { forwardBody } from '../models/bound.ts'
import type { Usage } from '../models/meter.ts'
import { TextFrames } from '../models/text-frames.ts'
import {
  type Chunk,
  type JsonObject,
  takeEach,
  UpstreamFailure,
} from '../models/upstream/upstream.ts'
import type { Choice } from './answer.ts'
import { ChunkSorter, unfinished } from './chunks.ts'
import { chargedEnding, endFailed, type Keep } from './ending.ts'
import { type Finished, finish } from './finish.ts'
import type { LiveRun } from './live-run.ts'
import { tryRoute, upstreamCall } from './route.ts'

/** What a stream writes to. */
export type Sink = {
  /** Resolves when the reader is ready for more. `isLast`: only the finishing chunks follow. */
  send(chunks: readonly Chunk[], isLast: boolean): void | Promise<void>
}

export type Streamed = Finished & {
  usage: Usage
  choices: Choice[]
  /** The finishing chunks, at least one. The last of them carries the receipt. */
  tail: JsonObject[]
  /** The tier of service that the upstream names. */
  tier: Json | undefined
}

/**
 * Chunks that finish a choice are held back and returned with the receipt.
 * @throws Refusal: before the first `send` nothing was charged, afterwards the output delivered.
 */
export async function stream(
  deps: Deps,
  live: LiveRun,
  sink: Sink,
  keep?: Keep<Streamed>,
): Promise<Streamed> {
  const sorter = new ChunkSorter()
  const { collected, tail } = sorter
  let step = live.model.route[0]
  let firstByteAt: Millis | null = null
  try {
    const chunks = await tryRoute(deps, live, (upstream, tried) => {
      step = tried
      const body = forwardBody(live.model, live.body, tried, live.bound.maxTokens)
      return upstream.stream({ ...upstreamCall(live), body })
    })
    let stopped: Promise<unknown> | undefined
    await takeEach(chunks, (batch) => {
      if (live.stopped()) {
        // It had come already: what it reports is believed, what it says is not delivered.
        for (const chunk of batch) if (!(chunk instanceof TextFrames)) collected.noteUsage(chunk)
        return false
      }
      firstByteAt ??= deps.clock.now()
      const outgoing = sorter.sort(batch)
      if (outgoing.length === 0) return true
      live.tell(outgoing)
      const sent = sink.send(outgoing, batch.isLast === true)
      // A reader that accepts nothing must not delay the end of a stopped run.
      if (!sent) return true
      stopped ??= untilAborted(live.signal)
      return Promise.race([sent, stopped]).then(() => true)
    })
    if (live.stopped()) throw new UpstreamFailure('aborted')
    if (tail.length === 0) tail.push(unfinished)
    // Only now: while the run could fail, held-back chunks did not count as delivered.
    for (const chunk of tail) collected.addHeldBack(chunk)
    const answer = collected.answer()
    const ending = chargedEnding(live, answer, step, { firstByteAt, output: answer.choices })
    const { choices, tier } = answer
    const more = { usage: ending.usage, choices, tail, tier }
    const reply = keep && ((done: Finished) => keep.done({ ...done, ...more }))
    return { ...(await finish(deps, live, ending, reply)), ...more }
  } catch (error) {
    if (!deps.live.find(live.id)) throw error
    const answer = collected.answer()
    throw await endFailed(deps, live, error, { step, answer, firstByteAt, keep })
  }
}

const untilAborted = (signal: StopSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
