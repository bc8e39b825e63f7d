/** The moments of a run at which a process is killed, each brought about on purpose. */

import type { Server } from '../test/support/binary.ts'
import { untilFree } from '../test/support/judges.ts'
import { until } from '../test/support/runs.ts'
import { type Asked, ask } from './asked.ts'
import type { Bench } from './fault-bench.ts'
import { gatedModel } from './fault-gate.ts'
import type { Fate } from './fault-judge.ts'
import { type Injection, inject } from './fault-tools.ts'
import { load, sortOf } from './load.ts'

/** A process that is dead, and what was asked about it in particular. */
export type Struck = {
  /** Whether it died where it was to. */
  isHit: boolean
  faults: string[]
  /** Requests whose runs are held between their hold and their end when it dies. */
  held: Asked[]
}

export type Point = {
  name: string
  /** What must be after the restart. */
  expected: string
  isTraced?: true
  /** Whether clients may be refused with a 503 for storage. */
  mayRefuse?: true
  /** Kills the server there. */
  strike(bench: Bench, server: Server): Promise<Struck>
  /** Looks at what became of the held requests; may find that the point was missed after all. */
  look?(fate: Fate, struck: Struck): { faults?: string[]; isHit?: boolean }
}

/** The sweep leaves younger runs alone. */
const youngMs = 500
/** By this age an open run has its row. */
const sweptMs = 2500

export const points: readonly Point[] = [
  {
    name: 'anywhere',
    expected: 'acknowledged is there, once; the rest is gone or `interrupted` at no charge',
    strike: (bench, server) => killWhen(bench, server, () => Bun.sleep(below(600))),
  },
  {
    name: 'after the hold',
    expected: 'gone, or `interrupted` where it had a row; nothing is charged',
    strike: (bench, server) =>
      killWhen(bench, server, (held) => held(7, () => Bun.sleep(below(150)))),
    look: (fate) => ({ faults: fate.stored > 0 ? [`${fate.stored} holds were charged`] : [] }),
  },
  {
    name: 'after the hold of an old run',
    expected: 'it has a row: `interrupted`, nothing is charged',
    strike: (bench, server) => killWhen(bench, server, (held) => held(5, () => Bun.sleep(sweptMs))),
    look: ({ interrupted }, { held }) => ({
      faults:
        interrupted === held.length ? [] : [`of ${held.length} old runs ${interrupted} have rows`],
    }),
  },
  {
    name: 'during the sweep that writes old runs',
    expected: 'gone or `interrupted`; nothing is charged',
    isTraced: true,
    strike: (bench, server) => killSweep(bench, server),
    // A run without a row is lost with the process that died.
    look: ({ gone, stored }, { isHit }) => ({
      isHit: isHit && gone > 0,
      faults: stored > 0 ? [`${stored} holds were charged`] : [],
    }),
  },
  {
    name: 'during a COMMIT',
    expected: 'the whole batch or none of it; no client was answered',
    isTraced: true,
    strike: (bench, server) =>
      killAtCall(bench, server, { calls: 'pwrite64', what: at(1 + below(90)) }),
  },
  {
    name: 'at the sync of a COMMIT',
    expected: 'the batch is there and no client was answered; a repeated call is told the answer',
    isTraced: true,
    strike: (bench, server) => killAtCall(bench, server, { calls: syncs, what: at(1 + below(8)) }),
  },
  {
    name: 'after a COMMIT, before its answer',
    expected: 'receipt and charge are there; a repeated call is told the answer',
    isTraced: true,
    strike: (bench, server) => killAnswer(bench, server),
    look: ({ stored }, { isHit }) => ({ isHit: isHit && stored > 0 }),
  },
  {
    name: 'a COMMIT fails for want of room',
    expected: '503, nothing charged, holds freed without a restart',
    isTraced: true,
    mayRefuse: true,
    strike: (bench, server) => refuseRoom(bench, server),
  },
  {
    name: 'the sync of a COMMIT fails',
    expected: '503 until the restart; stored or not, each call is charged once in the end',
    isTraced: true,
    mayRefuse: true,
    strike: (bench, server) => failSync(bench, server),
  },
  {
    name: 'before the 202 of a run in the background',
    expected: 'there, and `interrupted`, or never begun; nothing is charged',
    isTraced: true,
    strike: (bench, server) => killAccepting(bench, server),
    look: ({ stored }) => ({ faults: stored > 0 ? [`${stored} holds were charged`] : [] }),
  },
  {
    name: 'after the 202 of a run in the background',
    expected: 'there, and `interrupted`; nothing is charged',
    strike: (bench, server) =>
      killWhen(bench, server, async (held) => {
        const asked = await held(6, () => Promise.resolve(), 'background')
        await until('the answers', () => asked.every(({ status }) => status === 202))
      }),
    look: ({ interrupted }, { held }) => ({
      faults: interrupted === held.length ? [] : [`${interrupted} of ${held.length} are there`],
    }),
  },
]

const below = (most: number): number => Math.floor(Math.random() * most)
const at = (n: number): string => `signal=KILL:when=${n}`
const syncs = 'fsync,fdatasync'

type Hold = (count: number, then: () => Promise<unknown>, how?: Asked['how']) => Promise<Asked[]>

/** Kills a server under load once `come` is there, which may have runs held meanwhile. */
async function killWhen(
  bench: Bench,
  server: Server,
  come: (hold: Hold) => Promise<unknown>,
): Promise<Struck> {
  const loading = load(bench, server)
  // A busy machine takes long for the first answer.
  await Promise.race([loading, Bun.sleep(100 + below(200))])
  const held: Asked[] = []
  const asking: Promise<unknown>[] = []
  await come(async (count, then, how) => {
    asking.push(...(await hold(bench, server, { count, held, how })))
    await then()
    return held
  })
  await server.stop('SIGKILL')
  bench.gate.open()
  await Promise.all([loading, ...asking])
  return { isHit: true, faults: [], held }
}

type Wish = { count: number; held: Asked[]; how?: Asked['how'] | undefined }

/** Has runs of the gated model asked for, and waits until all of them have their hold. */
async function hold(
  bench: Bench,
  server: Server,
  { count, held, how }: Wish,
): Promise<Promise<unknown>[]> {
  const { gate } = bench
  gate.close()
  const from = bench.asked.length
  const model = gatedModel
  const asking = Array.from({ length: count }, (_, i) => {
    const usual = how ?? (sortOf(i).how === 'stream' ? 'stream' : 'plain')
    return ask(bench, server, { door: 'runs', how: usual, keyed: i % 2 === 0, model })
  })
  held.push(...bench.asked.slice(from).filter((asked) => asked.model === model))
  await until('the holds', () => gate.waiting() >= count, 20_000)
  return asking
}

const settledMs = 5000

/** Whether the process ended by the injected kill, and not by ours. */
async function ends(server: Server, strace: { stop(): Promise<number> }): Promise<boolean> {
  const end = await Promise.race([server.exited.then(() => true), Bun.sleep(settledMs)])
  await server.stop('SIGKILL')
  await strace.stop()
  return end === true
}

async function killAtCall(bench: Bench, server: Server, injection: Injection): Promise<Struck> {
  const loading = load(bench, server)
  await Promise.race([loading, Bun.sleep(below(300))])
  const strace = await inject(bench, server, injection)
  const isHit = await ends(server, strace)
  await loading
  return { isHit, faults: [], held: [] }
}

/** Nothing writes but the sweep: no run ends, and none begins again. */
async function killSweep(bench: Bench, server: Server): Promise<Struck> {
  const held: Asked[] = []
  await Bun.sleep(300)
  const asking = await hold(bench, server, { count: 8, held })
  const strace = await inject(bench, server, { calls: 'pwrite64', what: at(1 + below(10)) })
  const isEnded = await ends(server, strace)
  const ages = held.map(({ sentAt }) => performance.now() - sentAt)
  bench.gate.open()
  await Promise.all(asking)
  return { isHit: isEnded && Math.min(...ages) >= youngMs, faults: [], held }
}

/** All runs are held and let go at once: what is sent first then is an answer. */
async function killAnswer(bench: Bench, server: Server): Promise<Struck> {
  await loadFor(bench, server, 200)
  const held: Asked[] = []
  const asking = await hold(bench, server, { count: 1 + below(6), held, how: 'plain' })
  const sends = 'sendto,sendmsg,writev'
  const strace = await inject(bench, server, { calls: sends, what: at(1) })
  bench.gate.open()
  const isHit = await ends(server, strace)
  await Promise.all(asking)
  return { isHit, faults: [], held }
}

async function loadFor(bench: Bench, server: Server, ms: number): Promise<void> {
  await load(bench, server, Bun.sleep(ms))
  await freed(bench, server)
}

const freed = ({ secret }: Bench, server: Server): Promise<unknown> =>
  untilFree(server, secret, 15_000)

async function refuseRoom(bench: Bench, server: Server): Promise<Struck> {
  const faults: string[] = []
  const over = Promise.withResolvers<void>()
  const loading = load(bench, server, over.promise)
  await Bun.sleep(below(200))
  const first = 1 + below(60)
  const what = `error=ENOSPC:when=${first}..${first + 40}`
  const strace = await inject(bench, server, { calls: 'pwrite64', what })
  await Bun.sleep(1000)
  const hits = await strace.stop()
  over.resolve()
  const told = (await loading).filter(({ reason }) => reason === 'storage_full').length
  await freed(bench, server).catch(() => faults.push('holds stay after a COMMIT that failed'))
  const after = await ask(bench, server)
  if (!after.paid) faults.push(`with room again it says ${after.status} ${after.reason}`)
  await server.stop('SIGKILL')
  return { isHit: hits > 0 && told > 0, faults, held: [] }
}

async function failSync(bench: Bench, server: Server): Promise<Struck> {
  const faults: string[] = []
  const over = Promise.withResolvers<void>()
  const loading = load(bench, server, over.promise)
  await Bun.sleep(below(200))
  const what = `error=EIO:when=${1 + below(8)}`
  const strace = await inject(bench, server, { calls: syncs, what })
  await Bun.sleep(700)
  over.resolve()
  const told = (await loading).filter(({ reason }) => reason === 'storage_failed').length
  const hits = await strace.stop()
  const after = await ask(bench, server)
  if (hits > 0 && after.status !== 503) faults.push(`after it a run is ${after.status}`)
  await server.stop('SIGKILL')
  return { isHit: hits > 0 && told > 0, faults, held: [] }
}

/** The background runs' own COMMITs: nothing else begins or ends. */
async function killAccepting(bench: Bench, server: Server): Promise<Struck> {
  await loadFor(bench, server, 100)
  const { gate } = bench
  gate.close()
  const [calls, most] = below(2) === 0 ? (['pwrite64', 12] as const) : ([syncs, 2] as const)
  const strace = await inject(bench, server, { calls, what: at(1 + below(most)) })
  const asking = Array.from({ length: 6 }, (_, i) => {
    const sort = { door: 'runs', how: 'background', keyed: i % 2 === 0 } as const
    return ask(bench, server, { ...sort, model: gatedModel })
  })
  const held = bench.asked.slice(-asking.length)
  const isHit = await ends(server, strace)
  gate.open()
  await Promise.all(asking)
  return { isHit, faults: [], held }
}
