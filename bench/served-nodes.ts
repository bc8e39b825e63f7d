/**
 * Paid runs of one node and of two on the same PostgreSQL database. Every node is held to a share
 * of a core, as if it had a machine of its own: else both only divide the cores that there are.
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type EmptyDatabase, emptyDatabase } from '../test/support/postgres.ts'
import { holdToShare } from './core-share.ts'
import { binary, environment, postgresServer } from './environment.ts'
import { runLoad } from './load.ts'
import { plain } from './paid.ts'
import type { Pace } from './rounds.ts'
import { backendsOf, spentSince, untilQuiet } from './served-postgres.ts'
import { middle, type Row } from './table.ts'
import { type Gateways, type Running, startCounterfoil } from './targets.ts'

/** Of a core, for each node: two of them leave room for PostgreSQL and the load on two cores. */
const share = 0.25
const accountCount = 16
const connections = 64
/** Until the compilers of every node are done, in s. */
const warmSeconds = 8
/** Between two looks at what the backends do, in ms. */
const lookEveryMs = 20

/** Who is asked: one node for all accounts, the node of each account, or each node in turn. */
const ways = ['one node', 'two, by key', 'two, in turns'] as const
type Way = (typeof ways)[number]

/** Two nodes of a build on a database of their own, and what their rounds came to. */
type Pair = Pick<EmptyDatabase, 'url' | 'drop'> & {
  database: string
  nodes: Running[]
  keys: string[]
  rounds: Map<Way, Round[]>
}
type Round = { perSecond: number; perCpuSecond: number; perBackendSecond: number; waiting: number }

export async function measureNodes(
  { stub, before }: Gateways & { stub: Running },
  { seconds, rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  const server = postgresServer()
  if (!server) return [{ quantity: 'two nodes against one', measured: 'no BENCH_DATABASE_URL' }]
  const admin = new Bun.SQL({ url: server, max: 1 })
  const programs = [...(before ? [before.program] : []), undefined]
  const pairs: Pair[] = []
  const free: (() => void)[] = []
  try {
    for (const program of programs) {
      const { name: database, url, drop } = await emptyDatabase(server)
      const pair: Pair = { database, url, drop, nodes: [], keys: [], rounds: new Map() }
      pairs.push(pair)
      await startPair(pair, { stub, program, folder: join(folder, database) })
      await loadAll(pair, 'two, in turns', warmSeconds)
    }
    const pids = pairs.flatMap(({ nodes }) => nodes.map(({ pid }) => pid))
    for (const pid of pids) free.push(holdToShare(pid, share))
    console.log(`paid runs of one and of two nodes, ${connections} at once`)
    for (let round = 0; round < rounds; round++) {
      for (const pair of pairs) {
        for (const way of ways) await measureOnce(admin, pair, way, seconds)
      }
    }
    return rowsOf(pairs)
  } finally {
    for (const undo of free) undo()
    for (const { drop, nodes } of pairs) {
      await Promise.all(nodes.map((node) => node.process.stop()))
      await drop()
    }
    await admin.close()
  }
}

type Place = { stub: Running; program: string | undefined; folder: string }

async function startPair({ nodes, keys, url }: Pair, place: Place): Promise<void> {
  const { stub, program, folder } = place
  const env = { COUNTERFOIL_DATABASE_URL: url, COUNTERFOIL_BASE_URL: 'http://localhost:4663' }
  const folders = ['a', 'b'].map((name) => join(folder, name))
  const [first = '', second = ''] = folders
  const name = program === undefined ? 'now' : 'before'
  nodes.push(await startCounterfoil(stub, { name, folder: first, program, env }))
  mkdirSync(join(second, 'data'), { recursive: true, mode: 0o700 })
  copyFileSync(join(first, 'data', 'signer.key'), join(second, 'data', 'signer.key'))
  nodes.push(await startCounterfoil(stub, { name, folder: second, program, env }))
  const command = (...words: string[]): string => {
    const line = [program ?? binary(), ...words, '--data', join(first, 'data')]
    const done = Bun.spawnSync(line, { cwd: first, env: environment(env) })
    if (done.exitCode !== 0) throw new Error(`${words.join(' ')}: ${done.stderr}`)
    return done.stdout.toString()
  }
  for (let i = 0; i < accountCount; i++) {
    const account = `0x${String(i + 1).padStart(40, '0')}`
    command('grant', account, '1000', '--reason', 'bench')
    const made = command('key', 'create', '--account', account, '--cap', '1000', '--json')
    keys.push((JSON.parse(made) as { secret: string }).secret)
  }
}

/** Runs of all accounts at once, over the nodes that are asked. */
async function loadAll({ nodes, keys }: Pair, way: Way, seconds: number) {
  const each = connections / keys.length
  const asked = keys.flatMap((key, i) => {
    const mine = way === 'one node' ? [0] : way === 'two, by key' ? [i % 2] : [0, 1]
    return mine.map((at) => ({ node: nodes[at] as Running, key, count: each / mine.length }))
  })
  const results = await Promise.all(
    asked.map(({ node, key, count }) => {
      const target = { ...node, headers: { authorization: `Bearer ${key}` } }
      return runLoad(target, plain(count, seconds))
    }),
  )
  const requests = results.reduce((sum, result) => sum + result.requests, 0)
  const failed = results.flatMap(({ errors }) => Object.keys(errors))
  return { requests, failed }
}

async function measureOnce(admin: Bun.SQL, pair: Pair, way: Way, seconds: number): Promise<void> {
  await untilQuiet(admin)
  const cpu = await backendsOf(admin, pair)
  const looks = watchBackends(admin, pair)
  const begun = performance.now()
  const { requests, failed } = await loadAll(pair, way, seconds)
  const took = (performance.now() - begun) / 1000
  const { busy, waiting } = await looks.stop()
  const spent = spentSince(cpu, await backendsOf(admin, pair)) / 1e6
  const round = {
    perSecond: requests / took,
    perCpuSecond: requests / spent,
    perBackendSecond: requests / took / busy,
    waiting: waiting / busy,
  }
  pair.rounds.set(way, [...(pair.rounds.get(way) ?? []), round])
  console.log(
    `  ${pair.nodes[0]?.name} ${way}`.padEnd(24),
    `${round.perSecond.toFixed(0)}/s  ${round.perCpuSecond.toFixed(0)} a CPU second of PostgreSQL `,
    `${busy.toFixed(2)} backends at work, ${(100 * round.waiting).toFixed(1)} % of it for locks`,
    ...new Set(failed),
  )
}

/** How many backends of a database are at work, and wait for a lock of another, on average. */
function watchBackends(admin: Bun.SQL, { database }: Pair) {
  let isOver = false
  const watch = async () => {
    const seen = { busy: 0, waiting: 0, looks: 0 }
    while (!isOver) {
      const [found] = await admin`select count(*)::int as busy,
        count(*) filter (where wait_event_type = 'Lock')::int as waiting
        from pg_stat_activity where datname = ${database} and state = 'active'`
      seen.busy += found.busy
      seen.waiting += found.waiting
      seen.looks++
      await Bun.sleep(lookEveryMs)
    }
    return { busy: seen.busy / seen.looks, waiting: seen.waiting / seen.looks }
  }
  const watching = watch()
  return {
    stop() {
      isOver = true
      return watching
    },
  }
}

function rowsOf(pairs: readonly Pair[]): Row[] {
  const [now, before] = pairs.toReversed()
  if (!now) throw new Error('no node was measured')
  const of = ({ rounds }: Pair, way: Way, value: (round: Round) => number): number =>
    middle((rounds.get(way) ?? []).map(value))
  /** Of each round with the one beside it: what else the machine did then hits both. */
  const ratio = (way: Way, value: (round: Round) => number) => {
    const inPairs = ({ rounds }: Pair): number => {
      const one = rounds.get('one node') ?? []
      return middle(
        (rounds.get(way) ?? []).map((round, i) => value(round) / value(one[i] ?? round)),
      )
    }
    return { measured: inPairs(now), before: before && inPairs(before) }
  }
  const plainly = (way: Way, value: (round: Round) => number) => ({
    measured: of(now, way, value),
    before: before && of(before, way, value),
  })
  const two = ways.filter((way) => way !== 'one node')
  return [
    ...two.map((way): Row => {
      const gate = way === 'two, by key' ? (['≥', 1.5] as const) : undefined
      const quantity = `${way}: runs a second against one node, each on ${share} of a core`
      return { quantity, ...ratio(way, ({ perSecond }) => perSecond), gate }
    }),
    ...two.map((way) => ({
      quantity: `${way}: runs a CPU second of PostgreSQL against one node`,
      ...ratio(way, ({ perCpuSecond }) => perCpuSecond),
    })),
    ...two.map((way) => ({
      quantity: `${way}: runs a second that a backend is at work, against one node`,
      ...ratio(way, ({ perBackendSecond }) => perBackendSecond),
    })),
    ...ways.map((way) => ({
      quantity: `${way}: runs a second`,
      ...plainly(way, ({ perSecond }) => perSecond),
    })),
    ...ways.map((way) => ({
      quantity: `${way}: share of the backends' time that waits for locks, %`,
      ...plainly(way, ({ waiting }) => 100 * waiting),
    })),
  ]
}
