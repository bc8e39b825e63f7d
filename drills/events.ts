/**
 * Kills the binary with SIGKILL while it delivers events, at every point between a cause and the
 * receiver's answer, starts it again, and compares what arrived with what was committed.
 */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { accountEvents } from '../src/storage/outbox/event.ts'
import { grant, type Home, makeHome, makeKey, must, type Server } from '../test/support/binary.ts'
import { type Mood, type Receiver, startReceiver } from '../test/support/event-receiver.ts'
import { drilledModels, roomy } from '../test/support/paced-service.ts'
import { flatCost, startPacedUpstream } from '../test/support/paced-upstream.ts'
import { until } from '../test/support/runs.ts'
import { type Causing, causeEvents, type Teller } from './event-causes.ts'
import { judgeEvents, type Verdict } from './event-judge.ts'
import { canTrace, inject } from './fault-tools.ts'
import { headOf } from './report.ts'

type EventBench = { home: Home; receiver: Receiver; causing: Causing }

type EventPoint = {
  name: string
  isTraced?: true
  /** What the receiver does with messages of this round. */
  mood: Mood
  /** Kills the server, which causes events meanwhile; false if it died elsewhere. */
  strike(bench: EventBench, server: Server, answers: Answers): Promise<boolean>
}

/** Counts the requests of the round that were answered with a 2xx. */
type Answers = { count: number; reach(more: number): Promise<void> }

const below = (most: number): number => Math.floor(Math.random() * most)
const killed = async (server: Server): Promise<true> => {
  await server.stop('SIGKILL')
  return true
}

export const eventPoints: readonly EventPoint[] = [
  {
    name: 'anywhere',
    mood: 'take',
    async strike(_, server) {
      await Bun.sleep(300 + below(1500))
      return killed(server)
    },
  },
  {
    name: 'a cause was answered, its event is not routed',
    mood: 'hold',
    async strike(_, server, answers) {
      await answers.reach(8 + below(30))
      return killed(server)
    },
  },
  {
    name: 'a message arrived, and has no answer',
    mood: 'hold',
    async strike({ receiver }, server) {
      await receiver.arrived(1 + below(8))
      return killed(server)
    },
  },
  {
    name: 'a message was taken, its outcome is not stored',
    mood: 'take',
    async strike({ receiver }, server) {
      await receiver.arrived(5 + below(60))
      // The answer is on its way.
      await Bun.sleep(below(3))
      return killed(server)
    },
  },
  {
    name: 'tries failed and wait for the next',
    mood: 'fail',
    async strike({ receiver }, server) {
      await receiver.arrived(3)
      await Bun.sleep(below(400))
      return killed(server)
    },
  },
  {
    name: 'during a COMMIT',
    isTraced: true,
    mood: 'take',
    strike: (bench, server) => killAtCall(bench, server, 'pwrite64', 20 + below(200)),
  },
  {
    name: 'at the sync of a COMMIT',
    isTraced: true,
    mood: 'take',
    strike: (bench, server) => killAtCall(bench, server, 'fsync,fdatasync', 5 + below(30)),
  },
]

async function killAtCall(
  bench: EventBench,
  server: Server,
  calls: string,
  when: number,
): Promise<boolean> {
  await Bun.sleep(200)
  const strace = await inject(bench, server, { calls, what: `signal=KILL:when=${when}` })
  const isHit = await Promise.race([server.exited.then(() => true), Bun.sleep(8000)])
  await server.stop('SIGKILL')
  await strace.stop()
  return isHit === true
}

export type EventRound = { point: string; isHit: boolean; arrived: number }

export type EventsOptions = {
  /** Events in all, at least. */
  events: number
  /** Kills, at least one at each point. */
  rounds: number
  say?: (line: string) => void
}

/** All rounds kill one and the same data folder; what arrived is judged once, in the end. */
export async function drillEvents({ events, rounds, say = () => {} }: EventsOptions) {
  await using bench = await makeEventBench()
  const { home, receiver } = bench
  const isTraceable = await canTrace()
  const able = eventPoints.filter(({ isTraced }) => isTraceable || !isTraced)
  const killed: EventRound[] = []
  for (let round = 1; round <= Math.max(rounds, able.length); round++) {
    const result = await killOnce(bench, able[(round - 1) % able.length] as EventPoint, round)
    killed.push(result)
    const how = result.isHit ? '' : ' (missed)'
    say(`round ${round}, ${result.point}${how}: ${result.arrived} messages so far`)
  }
  const verdict = await judgeAll(bench, events)
  say(`${verdict.causes} causes, ${receiver.arrivals.length} messages`)
  const build = (await must(home, 'version', '--json')).trim()
  return { killed, ...verdict, messages: receiver.arrivals.length, build }
}

async function killOnce(bench: EventBench, point: EventPoint, round: number): Promise<EventRound> {
  const { home, receiver, causing } = bench
  receiver.become(point.mood)
  const server = await startTelling(home)
  const answers = countAnswers()
  const loading = causeEvents(causing, server, { answered: answers.note })
  const isHit = await point.strike(bench, server, answers)
  await loading
  if (round % 3 === 0) await home.killStarting(40 + below(160), telling(home))
  return { point: point.name, isHit, arrived: receiver.arrivals.length }
}

function countAnswers(): Answers & { note(): void } {
  const answers = {
    count: 0,
    note: () => void answers.count++,
    reach: (more: number) => until('answers', () => answers.count >= more, 20_000).then(() => {}),
  }
  return answers
}

/** Has the rest delivered by a server that lives. */
async function judgeAll(bench: EventBench, events: number): Promise<Verdict> {
  const { home, receiver, causing } = bench
  receiver.become('take')
  const server = await startTelling(home)
  const isEnough = () => new Set(receiver.arrivals.map(({ id }) => id)).size >= events
  await causeEvents(causing, server, { isOver: isEnough })
  const file = join(home.data, 'counterfoil.db')
  await until('all events to be delivered', () => countWaiting(file) === 0, 120_000)
  const ended = await server.stop('SIGTERM')
  const { rich, poor } = causing
  const verdict = await judgeEvents(file, receiver.arrivals, {
    accounts: [
      { account: rich.account, low: null },
      { account: poor.account, low },
    ],
    olderKeys: [rich.keyId, poor.keyId],
  })
  if (ended !== 0) verdict.faults.push(`SIGTERM ended with ${ended}`)
  return verdict
}

/** Events that wait to be routed, and deliveries that wait to be sent. */
function countWaiting(file: string): number {
  const db = new Database(file, { readonly: true })
  try {
    const sql = `select (select count(*) from events where routed_at is null) +
      (select count(*) from webhook_deliveries where status = 'pending') as left`
    return (db.query(sql).get() as { left: number }).left
  } finally {
    db.close()
  }
}

/** A receiver may be on the same machine while the server is tried out. */
const telling = ({ data }: Home) => ({
  args: ['--dev', '--data', data],
  env: { BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' },
})
const startTelling = (home: Home): Promise<Server> => home.start(telling(home))

/** Below it `balance.low` is told: what is left after two of the three runs of a voucher. */
const low = 2n * BigInt(flatCost)
const scopes = 'keys:mint,runs:write,webhooks:write'

const manyKeys = roomy.replace('limits = {', 'limits = { max_keys = 500,')

async function makeEventBench(): Promise<EventBench & AsyncDisposable> {
  const stub = await startPacedUpstream()
  const receiver = startReceiver()
  const home = await makeHome(`${drilledModels(stub.url)}\n${manyKeys}`)
  const made = async (account: string): Promise<Teller> => {
    const { id, secret } = await makeKey(home, { account }, '--scopes', scopes)
    return { account, secret, keyId: id }
  }
  const [rich, poor] = [await made(`0x${'a1'.repeat(20)}`), await made(`0x${'b2'.repeat(20)}`)]
  await grant(home, '1000.00', rich.account)
  const amount = (3 * flatCost) / 1e9
  const life = ['--count', '10000', '--expires', '30d']
  const csv = await must(home, 'vouchers', 'create', '--amount', amount.toFixed(9), ...life)
  const codes = csv
    .split('\n')
    .slice(1)
    .flatMap((line) => line.split(',')[0] || [])
  const server = await startTelling(home)
  for (const { secret: key, account } of [rich, poor]) {
    const url = receiver.url(`/${account}`)
    const json = { url, events: Object.keys(accountEvents) }
    const answer = await server.call('/v1/webhooks', { key, json })
    if (answer.status !== 201) throw new Error(await answer.text())
    receiver.trust(`/${account}`, ((await answer.json()) as { secret: string }).secret)
  }
  const json = { balance_low_nusd: Number(low) }
  const set = await server.call('/v1/alerts', { method: 'PATCH', key: poor.secret, json })
  if (set.status !== 200) throw new Error(await set.text())
  await server.stop('SIGTERM')
  const remove = async () => {
    await home.remove()
    await receiver.stop()
    await stub.stop()
  }
  return { home, receiver, causing: { rich, poor, codes }, [Symbol.asyncDispose]: remove }
}

type Result = Awaited<ReturnType<typeof drillEvents>>

export function eventsReport({ killed, faults, causes, messages, repeats, build }: Result): string {
  const points = [...Map.groupBy(killed, ({ point }) => point)].map(([point, all]) => {
    const hits = all.filter(({ isHit }) => isHit).length
    return `| ${point} | ${all.length} | ${hits} |`
  })
  return `${headOf('Events through kills', 'events', build)}

${killed.length} kills with SIGKILL on one data folder, between a cause and the answer of its
receiver, every third start too. Keys are made, spend their caps, pull brakes, are rotated, paused
and revoked; runs end; vouchers are redeemed and spent to nothing. In the end each committed cause
has one event, which arrived at least once with one id, one body and a right signature; no event
lacks a cause; events of a subject came in their order, none again behind a later one.

**${faults.length} faults.** ${causes} causes, ${messages} messages, of which ${repeats} came again
after they were taken.${faults.map((fault) => `\n- ${fault}`).join('')}

| killed when | rounds | hit |
|---|---|---|
${points.join('\n')}
`
}
