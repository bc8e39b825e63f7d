/** A public demonstration: a listener that stays, and behind it a new service every hour. */
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { systemClock } from '../../kernel/clock.ts'
import { makeIds } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import { systemRandom } from '../../kernel/random.ts'
import { serveRequests } from '../../web/http/serve.ts'
import { answerWaiting } from '../../web/http/waiting.ts'
import type { ProcessFacts } from '../metrics/collect.ts'
import { type Generation, type GenerationOptions, makeGeneration } from './generation.ts'
import { type DemoLimits, demoLimits } from './limits.ts'

export type DemoOptions = {
  /** Its base_url, listen, trusted_proxies, log and metrics count; the rest is ignored. */
  config: Config
  /** An existing folder, in which each service gets one. */
  folder: string
  log: Log
  limits?: DemoLimits
  /** Milliseconds between two resets, which are at multiples of it since 1970. */
  periodMs?: number
  runs?: number
  everyMs?: number
  /** Milliseconds that open runs and pages of a service have after its reset. */
  graceMs?: number
  readProcess?: (() => ProcessFacts) | undefined
}

export type RunningDemo = {
  url: string
  /** The generation that answers now. */
  current(): Generation
  /** Replaces all data now. Resolves when visitors meet the new one. */
  reset(): Promise<void>
  /** Lets runs end for up to `graceMs`, and deletes everything. */
  stop(graceMs: number): Promise<void>
}

const hourMs = 3_600_000
/** Time before a reset at which the next data are begun, in ms. */
const leadMs = 120_000
/** Pause before a failed reset is tried again, in ms. */
const againMs = 60_000
/** Pause after each run of a month that is made beside a running service, in ms. */
const breathMs = 20

/** Listens at once, and resolves when the first service answers. @throws what stopped the start */
export async function startDemo(wish: DemoOptions): Promise<RunningDemo> {
  const { config, folder, log, periodMs = hourMs, graceMs = 20_000 } = wish
  const stopping = new AbortController()
  const ids = makeIds(systemClock, systemRandom())
  let current: Generation | undefined
  const server = serveRequests(
    (request) => current?.answer(request) ?? answerWaiting(request, 'starting', ids),
    config.listen,
  )
  config.base_url = config.base_url.replace(/:0$/, `:${config.listen.port}`)
  const nextAfter = (at: number): number => (Math.floor(at / periodMs) + 1) * periodMs
  let resetsAt = nextAfter(systemClock.now())
  let count = 0
  const retiring = new Set<Promise<void>>()

  const make = (isBeside: boolean): Promise<Generation> => {
    const generation: GenerationOptions = {
      config,
      folder: join(folder, String(++count)),
      server,
      log,
      limits: wish.limits ?? demoLimits,
      resetsAt: () => resetsAt,
      runs: wish.runs ?? 300,
      everyMs: wish.everyMs ?? 5000,
      readProcess: wish.readProcess,
      signal: stopping.signal,
      breathe: isBeside ? () => Bun.sleep(breathMs) : undefined,
    }
    return makeGeneration(generation)
  }

  const retire = (generation: Generation, ms: number): Promise<void> => {
    const done = generation
      .retire(ms)
      .catch((error: unknown) => log.error('demo.not_deleted', error))
      .finally(() => void retiring.delete(done))
    retiring.add(done)
    return done
  }

  /** Between two requests: what the old one began, it ends. */
  const enter = (next: Generation): void => {
    const old = current
    next.open()
    current = next
    log.info('demo.reset', { generation: count, resets_at: resetsAt })
    if (old) void retire(old, graceMs)
  }

  let last: Promise<unknown> = Promise.resolve()
  /** One after the other: two sets of data beside the running one would be too many. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last
      .catch(() => {})
      .then(async () => {
        await Promise.all(retiring)
        return work()
      })
    last = done
    return done
  }

  /** The next reset by the clock, from when its data are begun on. */
  let coming: { now: AbortController; done: Promise<void> } | undefined

  /** Makes the next data, waits for the hour or for one who cannot, and replaces the old ones. */
  const resetInTime = async (now: AbortSignal): Promise<void> => {
    const next = await make(true)
    await sleepUntil(resetsAt, AbortSignal.any([stopping.signal, now]))
    if (stopping.signal.aborted) return retire(next, 0)
    resetsAt = nextAfter(Math.max(systemClock.now(), resetsAt))
    enter(next)
  }

  const keepResetting = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleepUntil(resetsAt - Math.min(leadMs, periodMs / 2), stopping.signal)
      if (stopping.signal.aborted) return
      const now = new AbortController()
      coming = { now, done: inTurn(() => resetInTime(now.signal)) }
      try {
        await coming.done
      } catch (error) {
        if (stopping.signal.aborted) return
        log.error('demo.not_reset', error)
        resetsAt = Math.max(resetsAt, systemClock.now() + againMs)
      } finally {
        coming = undefined
      }
    }
  }

  const reset = (): Promise<void> => {
    coming?.now.abort()
    if (coming) return coming.done
    return inTurn(async () => {
      const next = await make(true)
      if (stopping.signal.aborted) return retire(next, 0)
      enter(next)
    })
  }

  try {
    enter(await make(false))
  } catch (error) {
    await server.stop(true)
    throw error
  }
  const resetting = keepResetting()
  return {
    url: config.base_url,
    current: () => current as Generation,
    reset,
    async stop(ms) {
      stopping.abort(new Error('the demonstration is stopping'))
      const closed = server.stop()
      await Promise.all([resetting, last.catch(() => {})])
      if (current) void retire(current, ms)
      await Promise.all(retiring)
      await Promise.race([closed, Bun.sleep(250)])
      await server.stop(true)
    },
  }
}

async function sleepUntil(at: number, signal: AbortSignal): Promise<void> {
  // In small steps: clocks are set, and machines sleep.
  while (!signal.aborted && systemClock.now() < at) {
    await Bun.sleep(Math.min(1000, Math.max(1, at - systemClock.now())))
  }
}
