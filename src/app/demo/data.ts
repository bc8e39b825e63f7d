/** Makes the data of a demonstration: a month of use, through the service itself. */
import { rmSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { makeIds } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import { systemRandom } from '../../kernel/random.ts'
import { grantCredit } from '../../ledger/grant.ts'
import type { Upstream } from '../../models/upstream/upstream.ts'
import { wholeApp } from '../../web/http/lazy-mount.ts'
import { openDatabase } from '../open-database.ts'
import { openDataSigner, openHeads } from '../open-signer.ts'
import { createApp } from '../routes.ts'
import { diceOf } from './dice.ts'
import type { Inside } from './inside.ts'
import { demoUpstream, type Pace } from './invented-models.ts'
import { makeMonth } from './month.ts'
import { openPast, type PastService } from './past.ts'
import type { People, Person } from './people.ts'

const dayMs = 86_400_000
/** Days that the data tell of. */
const days = 30

/** The parts of a service of a demonstration; the database is open. */
export async function openParts(config: Config, log: Log) {
  const { db } = await openDatabase(config, { mayCreate: true })
  try {
    const signer = await openDataSigner(config, db, undefined)
    return { config, db, signer, log, headFile: openHeads(config) }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** The models of a demonstration, at a pace and by a clock. */
export const upstreamOf = (seed: string, pace: Pace, clock: Pick<Clock, 'now'>): Upstream =>
  demoUpstream({ dice: diceOf(seed), pace, clock, ids: makeIds(systemClock, systemRandom()) })

type DemoContext = {
  config: Config
  inside: Inside
  people: People
  /** Number of runs, some of which fail. */
  runs: number
  log: Log
  signal: AbortSignal
  breathe?: (() => Promise<void>) | undefined
}

/** Fills the folder of a configuration with a month that ends now. */
export async function makeData(making: DemoContext): Promise<void> {
  const { config, inside, people, runs, log, signal, breathe } = making
  const end = systemClock.now() - 60_000
  const start = end - days * dayMs
  let past: PastService | undefined
  const pace: Pace = { wait: async (ms) => past?.advance(ms) }
  const upstream = upstreamOf('models', pace, { now: () => past?.now() ?? start })
  // A service whose clock is moved warns of that, rightly and of no use.
  const faults: Log = { ...log, debug: () => {}, info: () => {}, warn: () => {} }
  const parts = await openParts(config, faults)
  past = await openPast({ ...parts, inProcess: [upstream] }, { start })
  const { deps, now } = past
  const pay = ({ wallet }: Person, dollars: number) =>
    grantCredit(deps, {
      account: wallet.address.toLowerCase(),
      amount: BigInt(Math.round(dollars * 1e9)),
      reason: 'demo',
      actor: 'operator',
    })
  try {
    const app = await wholeApp(createApp(deps))
    app.compile()
    inside.serve(app)
    const { call } = inside
    await makeMonth({ call, past, people, pay, now, runs, days, end, signal, breathe })
  } finally {
    await past.close()
  }
}

/** Deletes the folder of a service that has stopped. */
export const removeData = ({ data }: Config): void => rmSync(data, { recursive: true, force: true })
