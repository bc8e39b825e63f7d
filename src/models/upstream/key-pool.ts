/** The keys of an upstream that has several: which one a request takes, and which ones rest. */
import type { Clock } from '../../kernel/clock.ts'
import type { KeyHealth } from './key-health.ts'
import { OperatorFault } from './operator-fault.ts'
import { longestWaitMs } from './retry-after.ts'
import { UpstreamFailure } from './upstream.ts'

/** The first rest of a key after 429, and after a refusal of the key itself; each next doubles. */
const firstRestMs = { limited: 1000, denied: 30_000 }
const longestRestMs = { limited: 5 * 60_000, denied: 60 * 60_000 }

/** A key of the configuration. `name` is that of its variable or file, for the operator. */
export type WeightedKey = { name: string; key: string; weight: number }

/** The refusal of a key. `askedMs`: the wait that the answer asks for. */
export type KeyRefusal = { status: number; askedMs: number | undefined }

type Rest = { until: number; count: number; status: number }

/** The state of a key, which outlives a reload of the configuration. */
export class KeyState {
  /** Rests by the server's name of the model: a limit or a right is often of one model alone. */
  readonly rests = new Map<string, Rest>()
  readonly fault: OperatorFault

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.fault = new OperatorFault(clock)
  }
}

/** A key with what a request carries of it. `id` is a hash that tells keys apart. */
export type PooledKey = {
  id: string
  name: string
  weight: number
  /** Is cut from the words of the server. */
  secret: string
  headers: Readonly<Record<string, string>>
  state: KeyState
}

export type KeyPoolDeps = {
  clock: Pick<Clock, 'monotonic'>
  /** Numbers of 0 to 1, below 1. */
  random: () => number
  /** Hears of a key that began to rest. */
  tell: (rest: { key: string; model: string; status: number; forMs: number }) => void
}

/**
 * Weighted keys of one upstream. A key rests after 401, 402, 403 or 429: as long as Retry-After
 * says, else twice as long each time. The rest of a key is of one model; another may be served.
 */
export class KeyPool {
  constructor(
    readonly keys: readonly PooledKey[],
    private readonly deps: KeyPoolDeps,
  ) {}

  /**
   * A key that does not rest and was not tried: the preferred one, else one by their weights.
   * Undefined if there is none.
   */
  pick(model: string, tried: readonly PooledKey[], preferred?: string): PooledKey | undefined {
    const now = this.deps.clock.monotonic()
    let sum = 0
    for (const key of this.keys) {
      if (!isReady(key, model, now) || tried.includes(key)) continue
      if (key.id === preferred) return key
      sum += key.weight
    }
    let left = this.deps.random() * sum
    let last: PooledKey | undefined
    for (const key of this.keys) {
      if (!isReady(key, model, now) || tried.includes(key)) continue
      last = key
      left -= key.weight
      if (left < 0) return key
    }
    return last
  }

  /** The headers of a request outside of runs. */
  headersFor(model: string): Readonly<Record<string, string>> {
    const key = this.pick(model, []) ?? this.keys[0]
    return key?.headers ?? {}
  }

  answered({ state }: PooledKey, model: string): void {
    state.fault.answered()
    const rest = state.rests.get(model)
    // An answer to an earlier request does not end a rest.
    if (rest && rest.until <= this.deps.clock.monotonic()) state.rests.delete(model)
  }

  /** Lets a key rest that was not taken, which its operator hears of. */
  refuse({ name, state }: PooledKey, model: string, { status, askedMs }: KeyRefusal): void {
    if (status !== 429) state.fault.failed({ reason: 'denied', status })
    const kind = status === 429 ? 'limited' : 'denied'
    const now = this.deps.clock.monotonic()
    const before = state.rests.get(model)
    // Requests that were on their way together are one refusal.
    const isSame = before !== undefined && before.until > now
    const count = isSame ? before.count : (before?.count ?? 0) + 1
    const grown = Math.min(firstRestMs[kind] * 2 ** (count - 1), longestRestMs[kind])
    const forMs = askedMs !== undefined && askedMs > 0 ? askedMs : grown
    const until = Math.max(now + forMs, isSame ? before.until : 0)
    state.rests.set(model, { until, count, status })
    if (!isSame) this.deps.tell({ key: name, model, status, forMs })
  }

  /** Whether a key is there for a model. */
  isReady(model: string): boolean {
    const now = this.deps.clock.monotonic()
    return this.keys.some((key) => isReady(key, model, now))
  }

  /**
   * The failure of a request that no key is left for: `limited` with the shortest wait if any key
   * is limited, else the last one, or `denied` where none was asked.
   */
  exhausted(model: string, last: UpstreamFailure | undefined): UpstreamFailure {
    const now = this.deps.clock.monotonic()
    let shortest = Number.POSITIVE_INFINITY
    for (const { state } of this.keys) {
      const rest = state.rests.get(model)
      if (rest?.status === 429 && rest.until > now) shortest = Math.min(shortest, rest.until - now)
    }
    if (shortest === Number.POSITIVE_INFINITY) return last ?? new UpstreamFailure('denied')
    const retryAfterMs = Math.min(shortest, longestWaitMs)
    return new UpstreamFailure('limited', { status: last?.status, retryAfterMs })
  }

  health(): KeyHealth[] {
    const now = this.deps.clock.monotonic()
    return this.keys.map(({ name, weight, state }) => {
      const fault = state.fault.current
      const rests = [...state.rests.values()].filter(({ until }) => until > now)
      const isLimited = rests.some(({ status }) => status === 429)
      return { name, weight, status: fault ? 'denied' : isLimited ? 'limited' : 'ok', fault }
    })
  }
}

function isReady({ state }: PooledKey, model: string, now: number): boolean {
  const rest = state.rests.get(model)
  return rest === undefined || rest.until <= now
}
