/** Starts the showcase: a chain, a model server, a month of use, then the service itself. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { makeMonth } from '../../src/app/demo/month.ts'
import type { Call, Person } from '../../src/app/demo/people.ts'
import { liabilityPublisher } from '../../src/proof/liabilities/publish-liabilities.ts'
import { configOf } from '../../test/support/world.ts'
import { openLocalChain } from './chain.ts'
import { showcaseToml } from './config.ts'
import { openFrontDesk } from './front-desk.ts'
import { callAt, moreSteps, showcasePeople } from './people.ts'
import { openPast, openPresent } from './service.ts'
import { startTraffic } from './traffic.ts'
import { startModels } from './upstream.ts'

export type ShowcaseOptions = {
  /** An empty or missing folder, which is kept; a temporary one, which is not, when absent. */
  data?: string | undefined
  /** Of the service; a free one when 0. */
  port?: number
  runs?: number
  days?: number
  /** Milliseconds between two runs once it serves; none when 0. */
  everyMs?: number
  say?: (line: string) => void
  /** Ends a start while the month is being made. */
  signal?: AbortSignal
}

const dayMs = 86_400_000

/** How long a stop waits for runs that go on, in ms. */
const graceMs = 2000

export type Showcase = Awaited<ReturnType<typeof startShowcase>>

/** @throws Error when the folder has something in it. */
export async function startShowcase(options: ShowcaseOptions = {}) {
  const { runs = 700, days = 30, everyMs = 1000, say = () => {}, signal } = options
  const data = resolve(options.data ?? mkdtempSync(join(tmpdir(), 'counterfoil-showcase-')))
  if (existsSync(data) && readdirSync(data).length > 0) throw new Error(`${data} is not empty`)
  const closing: (() => unknown)[] = []
  const stop = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) await close()
  }
  if (options.data === undefined) {
    closing.push(() => rmSync(data, { recursive: true, force: true }))
  }
  try {
    const end = Date.now() - 60_000
    const start = end - days * dayMs
    const chain = await openLocalChain(start - 600_000)
    closing.push(chain.stop)
    const pace = { wait: (_ms: number): Promise<void> => Promise.resolve() }
    const models = await startModels(pace)
    closing.push(models.stop)
    const port = options.port || freePort()
    const origin = `http://localhost:${port}`
    const call: Call = (path, asked) => callAt(origin, path, asked)
    const people = showcasePeople(call)
    const operator = people[0].wallet.address
    const config = () =>
      configOf(
        showcaseToml({ ...chain, data, port, operator, upstream: models.url, rpc: chain.url }),
      )
    const past = await openPast(config(), chain, start)
    let waits = 0
    pace.wait = async (ms) => {
      past.advance(ms)
      // Now and then a client gets its turn: one that stops a stream must meet it under way.
      if (++waits % 20 === 0) await Bun.sleep(1)
    }
    say(`making ${runs} runs of ${days} days`)
    const pay = ({ wallet }: Person, dollars: number) => chain.pay(wallet.address, dollars)
    const more = moreSteps(people, chain)
    const month = { call, past, people, pay, more, runs, days, end, now: past.now, signal }
    const statuses = await makeMonth(month).finally(past.stop)
    pace.wait = Bun.sleep
    await chain.moveTo(Date.now())
    const running = await openPresent(config())
    // The job would make the first statement a minute later.
    await liabilityPublisher(running.deps)(new AbortController().signal)
    closing.push(() => running.stop(graceMs))
    closing.push(startTraffic({ origin, call, people, chain, everyMs }))
    const desk = openFrontDesk(origin, people)
    closing.push(desk.stop)
    const signIn = (person: Person) => `${desk.origin}/${person.name.toLowerCase()}`
    return { origin, people, chain, deps: running.deps, data, statuses, signIn, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** A port of loopback that is free now. */
function freePort(): number {
  const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  if (port === undefined) throw new Error('there is no free port')
  return port
}
