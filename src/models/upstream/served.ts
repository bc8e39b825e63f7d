/** An upstream as runs use it: counted, with a limited number of places, behind a breaker. */
import { type Breaker, type Pass, verdictOf } from './breaker.ts'
import { Latencies } from './latencies.ts'
import { OperatorFault } from './operator-fault.ts'
import type { ReachTrouble } from './reach-trouble.ts'
import type { PlaceHolder, Slots } from './slots.ts'
import {
  type Batch,
  type Chunks,
  type ChunkTaker,
  type FailureReason,
  takeEach,
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
} from './upstream.ts'

/** The meters that count what upstreams do. */
export type Meter = {
  upstreamAsked(id: string): void
  /** The first of its answer came. */
  upstreamAnswered(id: string, seconds: number): void
  upstreamFailed(id: string, reason: FailureReason | ReachTrouble): void
}

type Rules = {
  meters: Meter
  clock: { monotonic(): number }
  /** A request holds one from before its first byte goes out until its answer ends in any way. */
  slots?: Slots
  /** While it is open, requests are refused with the reason `open`. */
  breaker?: Breaker | undefined
}

/** An upstream that keeps these rules. */
export function servedUpstream(upstream: Upstream, rules: Rules): Upstream {
  const { id, protocol, countTokens, dialects, evidence, keys, isReady } = upstream
  const { slots, breaker } = rules
  const fault = new OperatorFault(rules.clock)
  const latencies = new Latencies()
  return {
    id,
    protocol,
    async complete(call) {
      const turn = new Turn(id, rules, call, fault)
      try {
        const waits = turn.takePlace()
        if (waits) await waits
        const answer = await upstream.complete(call)
        turn.note()
        turn.end({ how: 'whole' })
        return answer
      } catch (error) {
        turn.end({ how: 'failed', error })
        throw error
      }
    },
    async stream(call) {
      const turn = new Turn(id, rules, call, fault)
      try {
        const waits = turn.takePlace()
        if (waits) await waits
        const chunks = await upstream.stream(call)
        const seconds = turn.note()
        latencies.note(String(call.body['model']), 1000 * seconds)
        breaker?.began(turn)
        return onEnd(chunks, (end) => turn.end(end))
      } catch (error) {
        turn.end({ how: 'failed', error })
        throw error
      }
    },
    ...(countTokens && {
      countTokens: async (call) =>
        // One that rests is left alone.
        breaker && breaker.state !== 'closed' ? undefined : countTokens(call),
    }),
    dialects,
    evidence,
    ...(slots && {
      load: () => ({ taken: slots.taken, waiting: slots.waiting, most: slots.most }),
    }),
    fault: () => fault.current,
    latencies,
    ...(keys && { keys }),
    ...(isReady && { isReady }),
    ...(breaker && {
      breaker: (account) => ({ state: breaker.state, retryAfterMs: breaker.retryAfterMs(account) }),
    }),
  }
}

/** One request from its start to its end, with its state in the slots and the circuit. */
class Turn implements PlaceHolder, Pass {
  hasPlace = false
  probe: Pass['probe'] = 'none'
  turn: number | undefined
  suspends = 0
  readonly account: string
  private readonly startedAt: number

  /** @throws UpstreamFailure `open`, which counts as no request */
  constructor(
    private readonly id: string,
    private readonly rules: Rules,
    private readonly call: UpstreamCall,
    private readonly fault: OperatorFault,
  ) {
    const { breaker, clock, meters } = rules
    this.account = call.account
    if (breaker && !breaker.admit(this)) {
      throw new UpstreamFailure('open', { retryAfterMs: breaker.retryAfterMs(this.account) })
    }
    this.startedAt = clock.monotonic()
    meters.upstreamAsked(id)
  }

  /** Gives a promise only where there is no place yet. */
  takePlace(): Promise<void> | void {
    return this.rules.slots?.take(this, this.call.signal)
  }

  /** The first of its answer came, after so many seconds. */
  note(): number {
    const { clock, meters } = this.rules
    const seconds = (clock.monotonic() - this.startedAt) / 1000
    meters.upstreamAnswered(this.id, seconds)
    this.fault.answered()
    return seconds
  }

  end(end: End): void {
    const { slots, breaker } = this.rules
    slots?.release(this)
    // Only its end says that an answer was whole.
    if (end.how !== 'failed') breaker?.end(this, end.how === 'whole' ? 'answered' : 'left')
    else this.fail(end.error)
  }

  /** A stop by our own caller is not a failure. */
  private fail(error: unknown): void {
    const { breaker, meters } = this.rules
    const failure = error instanceof UpstreamFailure ? error : undefined
    const reason = failure?.reason ?? 'error'
    if (failure) this.fault.failed(failure)
    if (reason !== 'aborted') meters.upstreamFailed(this.id, failure?.trouble ?? reason)
    breaker?.end(this, failure ? verdictOf(failure) : 'left')
  }
}

/** How a stream ended: whole, by what it threw, or because its reader stopped. */
type End = { how: 'whole' | 'left' } | { how: 'failed'; error: unknown }

/** Passes chunks on, and tells `listener` once how they ended. */
export function onEnd(chunks: Chunks, listener: (end: End) => void): Chunks {
  let isTold = false
  const tell = (end: End): void => {
    if (isTold) return
    isTold = true
    listener(end)
  }
  const iterate = (): AsyncIterableIterator<Batch> => {
    const inner = chunks[Symbol.asyncIterator]()
    const see = (result: IteratorResult<Batch>) => {
      if (result.done) tell({ how: 'whole' })
      return result
    }
    const fail = (error: unknown): never => {
      tell({ how: 'failed', error })
      throw error
    }
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: () => inner.next().then(see, fail),
      async return() {
        try {
          await inner.return?.()
        } finally {
          tell({ how: 'left' })
        }
        return { done: true, value: undefined }
      },
    }
  }
  return {
    [Symbol.asyncIterator]: iterate,
    each: (take) => tellEach(chunks, take, tell),
  }
}

/** Hands on all batches, and tells how that ended. */
async function tellEach(
  chunks: Chunks,
  take: ChunkTaker<Batch>,
  tell: (end: End) => void,
): Promise<void> {
  let isLeft = false
  const goesOn = (more: boolean): boolean => {
    isLeft = !more
    return more
  }
  const takeOn = (batch: Batch): boolean | Promise<boolean> => {
    // Until it returns true: an error of `take` is not a failure of the stream.
    isLeft = true
    const more = take(batch)
    return typeof more === 'boolean' ? goesOn(more) : more.then(goesOn)
  }
  try {
    await takeEach(chunks, takeOn)
  } catch (error) {
    tell(isLeft ? { how: 'left' } : { how: 'failed', error })
    throw error
  }
  tell({ how: isLeft ? 'left' : 'whole' })
}
