/** Runs a request and sends each chunk as it comes; the finishing chunks wait for the COMMIT. */
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Usage } from '../models/meter.ts'
import type { NativeEvent } from '../models/native-event.ts'
import {
  type Chunk,
  type JsonObject,
  takeEach,
  UpstreamFailure,
} from '../models/upstream/upstream.ts'
import { ChunkSorter } from './chunks.ts'
import { type CollectedAnswer, endFailed, endingOf, type ReplyKeeper, storedOf } from './ending.ts'
import { finish } from './finish.ts'
import type { LiveRun } from './live-run.ts'
import { NativeSorter } from './native-sorter.ts'
import type { Choice } from './partial-choice.ts'
import { tryRoute } from './route.ts'
import type { FinishedRun } from './settlement.ts'

/** The reader that a stream writes to. */
export type Sink = {
  /** Resolves when the reader is ready for more. `isLast`: only the finishing chunks follow. */
  send(chunks: readonly Chunk[], isLast: boolean): void | Promise<void>
  /** The run has ended, however it did. */
  end?(): void
}

export type StreamedAnswer = FinishedRun & {
  usage: Usage
  /** The output that the receipt commits to. */
  output: Json
  choices: Choice[]
  /** The finishing chunks, at least one. The last of them carries the receipt. */
  tail: JsonObject[]
  /** The tier of service that the upstream names. */
  tier: Json | undefined
  /** The finishing events of a stream that was handed on as it came; the two above are empty. */
  events?: NativeEvent[]
}

/**
 * Chunks that finish a choice are held back and returned with the receipt.
 * @throws Refusal: before the first `send` nothing was charged, afterwards the output delivered.
 */
export async function stream(
  deps: Deps,
  live: LiveRun,
  sink: Sink,
  keep?: ReplyKeeper<StreamedAnswer>,
): Promise<StreamedAnswer> {
  let sorter: ChunkSorter | NativeSorter = new ChunkSorter()
  let isWhole = false
  try {
    const chunks = await tryRoute(deps, live, 'stream')
    if (live.isNative && live.native) sorter = new NativeSorter(live.native.protocol)
    await takeEach(chunks, (batch) => {
      if (live.stopped()) {
        // It had come already: what it reports is believed, what it says is not delivered.
        sorter.noteUsage(batch)
        return false
      }
      if (live.firstByteAt === null) {
        live.firstByteAt = deps.clock.now()
        if (live.isLarge) deps.reports.keepConversation(live)
        live.freeRequest()
      }
      if (live.isDraining) {
        sorter.drop(batch)
        return true
      }
      const outgoing = sorter.sort(live.freeform ? live.freeform.chunks(batch) : batch)
      if (outgoing.length === 0) return true
      live.tell(outgoing)
      const sent = sink.send(outgoing, batch.isLast === true)
      // A reader that accepts nothing must not delay the end of a run that it left.
      return sent ? live.untilTaken(sent).then(() => true) : true
    })
    if (live.stopped()) throw new UpstreamFailure('aborted')
    if (live.isDraining) {
      isWhole = true
      sorter.drop([])
      throw new UpstreamFailure('aborted')
    }
    const { answer, end } = endOf(sorter)
    const output = answer.choices
    const ending = endingOf(deps, live, answer, output, 'whole')
    const more = { usage: ending.usage, tier: answer.tier, output, ...end }
    return Object.assign(await finish(deps, live, ending, storedOf(keep, more)), more)
  } catch (error) {
    if (!deps.live.find(live.id)) throw error
    const answer = { ...sorter.soFar(), hasEnded: sorter.hasEnded }
    throw await endFailed(deps, live, error, { answer, keep, isWhole })
  } finally {
    sink.end?.()
  }
}

/** The whole answer, and what the client is still to hear of it. */
function endOf(sorter: ChunkSorter | NativeSorter): {
  answer: CollectedAnswer
  end: Pick<StreamedAnswer, 'choices' | 'tail' | 'events'>
} {
  if (sorter instanceof NativeSorter) {
    return { answer: sorter.whole(), end: { choices: [], tail: [], events: sorter.tail } }
  }
  const answer = sorter.whole()
  return { answer, end: { choices: answer.choices, tail: sorter.tail } }
}
