/** One hour's service of a demonstration: its data, what serves them, and their end. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { AnyElysia } from 'elysia'
import { privateKeyToAccount } from 'viem/accounts'
import type { Config } from '../../config/config.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { type Random, systemRandom } from '../../kernel/random.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import { grantCredit } from '../../ledger/grant.ts'
import { wholeApp } from '../../web/http/lazy-mount.ts'
import { answersOf } from '../../web/http/serve.ts'
import type { WaitingQueue } from '../../web/http/waiting.ts'
import type { ProcessFacts } from '../metrics/collect.ts'
import { startServer } from '../start.ts'
import type { Service } from '../wiring.ts'
import { makeData, openParts, removeData, upstreamOf } from './data.ts'
import { insideOf } from './inside.ts'
import { demoUpstreamId, type Pace } from './invented-models.ts'
import { type DemoLimits, limitedDemo } from './limits.ts'
import { modelsServedBy } from './offer.ts'
import { peopleOf } from './people.ts'
import { startTraffic } from './traffic.ts'

/** Time for pages that follow a list to notice that their service stops, in ms. */
const noticeMs = 3000
/** Pause between two looks at whether the last requests ended, in ms. */
const lookMs = 50
/** Grace of a service that has no visitors any more, in ms. */
const closeMs = 1000

export type GenerationOptions = {
  /** The configuration of the demonstration; folder, models and limits are set here. */
  config: Config
  /** A folder that does not exist yet. */
  folder: string
  /** The listener. */
  server: Bun.Server<undefined>
  log: Log
  limits: DemoLimits
  resetsAt: () => number
  /** Runs of its month. */
  runs: number
  /** Milliseconds between two runs of its own people while it serves; none when 0. */
  everyMs: number
  readProcess?: (() => ProcessFacts) | undefined
  signal: AbortSignal
  /** Waits between two runs of the month, where others need the processor. */
  breathe?: (() => Promise<void>) | undefined
}

export type Generation = {
  deps: Service
  answer(request: Request): Promise<Response>
  /** From now on it is the one that visitors meet. */
  open(): void
  /** Lets open requests, runs and pages end for up to `graceMs`, then deletes the data. */
  retire(graceMs: number): Promise<void>
}

/**
 * Makes the data of a generation and starts its service, which answers when it is asked to.
 * @throws what went wrong; its folder is gone then.
 */
export async function makeGeneration(wish: GenerationOptions): Promise<Generation> {
  const { folder, log, signal, runs, breathe } = wish
  const config = configOf(wish)
  const random = systemRandom()
  const wallets = [0, 1, 2].map(() => privateKeyToAccount(`0x${hexOf(random)}`))
  const inside = insideOf(config.base_url)
  const people = peopleOf(inside.call, wallets)
  mkdirSync(folder, { mode: 0o700 })
  try {
    await makeData({ config, inside, people, runs, log, signal, breathe })
    signal.throwIfAborted()
    const { service, app, demo } = await openPresent(wish, config, inside.isOwn)
    inside.serve(app)
    return generationOf(wish, {
      service,
      app,
      open: demo.open,
      config,
      traffic: () => startTraffic({ call: inside.call, people, everyMs: wish.everyMs, log }),
    })
  } catch (error) {
    removeData(config)
    throw error
  }
}

const hexOf = (random: Random): string => Buffer.from(random.bytes(32)).toString('hex')

const sameLimits = {
  rpm: undefined,
  concurrency: undefined,
  max_keys: undefined,
  max_depth: undefined,
  history_days: undefined,
}
const sameAsEver = {
  name: undefined,
  price_nusd: undefined,
  period: undefined,
  discount_bps: undefined,
  models: undefined,
}

/** The folder of this generation, the demonstration's models and limits. */
const configOf = ({ config, folder, limits }: GenerationOptions): Config => ({
  ...config,
  data: folder,
  database_url: `sqlite:${join(folder, 'counterfoil.db')}`,
  models: modelsServedBy(demoUpstreamId),
  plans: [
    { ...sameAsEver, id: 'free', limits: { ...sameLimits, max_keys: limits.activeKeys } },
    ...['builder', 'scale'].map((id) => ({ ...sameAsEver, id, limits: sameLimits })),
  ],
  limits: {
    ...config.limits,
    body_bytes: limits.bodyBytes,
    admission: limits.admission,
    concurrency: 8,
    keyless_per_minute: 120,
    failed_auth_per_minute: 60,
  },
  terminal: { daily_budget_nusd: limits.credit, asks_per_day: 30 },
})

const present: Pace = {
  wait: (ms, signal) => Promise.race([Bun.sleep(ms), stopped(signal)]),
}

const stopped = (signal: StopSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))

/** Serves the generated data by the system's clock, with every job of a server. */
async function openPresent(
  { log, limits, resetsAt, server, readProcess }: GenerationOptions,
  config: Config,
  isOwn: (request: Request) => boolean,
) {
  const demo = limitedDemo({ clock: systemClock, limits, resetsAt, isOwn })
  let made: AnyElysia | undefined
  // The listener stays when this service stops: what is open is waited for in `retire`.
  const waiting: WaitingQueue = {
    enter: () => {},
    serve(app) {
      made = app
      return { stop: async () => {} }
    },
    close: async () => {},
  }
  const parts = await openParts(config, log)
  const inProcess = [upstreamOf(`present ${config.data}`, present, systemClock)]
  const service = await startServer(
    { ...parts, inProcess, demo, readProcess },
    {
      waiting,
      async prepare(deps) {
        demo.guard(deps, (account) =>
          grantCredit(deps, { account, amount: limits.credit, reason: 'demo', actor: 'operator' }),
        )
      },
    },
  )
  if (!made) throw new Error('the service made no app')
  const app = await wholeApp(made)
  answersOf(app, server)
  return { service, app, demo }
}

type OpenGeneration = {
  service: Awaited<ReturnType<typeof startServer>>
  app: AnyElysia
  config: Config
  open: () => void
  traffic: () => () => Promise<void>
}

function generationOf({ log }: GenerationOptions, opened: OpenGeneration): Generation {
  const { service, app, config, open, traffic } = opened
  const { deps } = service
  let asked = 0
  let endTraffic = async (): Promise<void> => {}
  return {
    deps,
    async answer(request) {
      asked++
      try {
        return await app.fetch(request)
      } finally {
        asked--
      }
    },
    open() {
      open()
      endTraffic = traffic()
    },
    async retire(graceMs) {
      const { monotonic } = systemClock
      const begun = monotonic()
      // Pages that follow end by this; runs go on.
      deps.health.stopping = true
      await endTraffic()
      const isBusy = () => asked > 0 || deps.live.count() > 0
      const least = Math.min(noticeMs, graceMs)
      while (monotonic() < begun + least || (isBusy() && monotonic() < begun + graceMs)) {
        await Bun.sleep(lookMs)
      }
      await service.stop(closeMs)
      removeData(config)
      log.info('demo.deleted', { data: config.data })
    },
  }
}
