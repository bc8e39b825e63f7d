import { usageOf } from '../bench/processes.ts'
import { families } from '../test/fuzz/families.ts'
import { type Bounds, drillBounds, type Tried, tryTarget } from '../test/fuzz/run.ts'
import { startService } from '../test/fuzz/service.ts'
import { type Served, trySockets } from '../test/fuzz/sockets.ts'
import { tryRoutes } from '../test/fuzz/try-routes.ts'
import { tryUpstreams } from '../test/fuzz/try-upstreams.ts'
import { fund, type Home, makeHome, must } from '../test/support/binary.ts'
import type { Engine } from '../test/support/world.ts'
import { headOf } from './report.ts'

/** How much of the time each part has; the readers share theirs. */
const shares = { readers: 0.6, routes: 0.2, upstreams: 0.1, sockets: 0.1 }
/** A request does much more than reading its body, in this process client and server at once. */
const routeBounds: Bounds = { ...drillBounds, mostMs: 250 }

/** What the executable may need more after all those bytes: it is warm then. */
const mostGrowthMiB = 96

type FuzzOptions = { seconds: number; seed: number; say?: (line: string) => void }

/** Gives every reader, every route and the executable what no one should send them. */
export async function drillFuzz({ seconds, seed, say = () => {} }: FuzzOptions) {
  const tried: Tried[] = []
  const note = (one: Tried): void => {
    tried.push(one)
    say(lineOf(one))
  }
  const msOf = (part: keyof typeof shares): number => seconds * 1000 * shares[part]
  const targets = Object.entries(families).flatMap(([family, own]) =>
    own.map((target) => ({ ...target, name: `${family}: ${target.name}` })),
  )
  for (const target of targets) {
    note(await tryTarget(target, seed, { ms: msOf('readers') / targets.length }, drillBounds))
  }
  const engines: Engine[] = process.env['TEST_DATABASE_URL'] ? ['sqlite', 'postgres'] : ['sqlite']
  for (const engine of engines) {
    const service = await startService(engine)
    const name = `every route, on ${engine}`
    const effort = { ms: msOf('routes') / engines.length }
    note(await tryRoutes(service, seed, effort, routeBounds, name))
    await service.stop()
  }
  note(await tryUpstreams(seed, { ms: msOf('upstreams') }, routeBounds))
  const { sockets, build } = await tryExecutable(seed, msOf('sockets'))
  note(sockets)
  return { seconds, seed, tried, faults: tried.flatMap(({ faults }) => faults), build }
}

/** Bytes that are not requests, at the executable itself. */
async function tryExecutable(seed: number, ms: number): Promise<{ sockets: Tried; build: string }> {
  await using home = await makeHome()
  const build = await must(home, 'version', '--json')
  const { served, pid } = await serve(home)
  const before = usageOf(pid).rssMiB
  const sockets = await trySockets(served, seed, { ms })
  const grownMiB = served.isAlive() ? usageOf(pid).rssMiB - before : 0
  if (grownMiB > mostGrowthMiB) sockets.faults.push(`memory grew by ${grownMiB.toFixed(0)} MiB`)
  return { sockets, build }
}

async function serve(home: Home): Promise<{ served: Served; pid: number }> {
  const secret = await fund(home, '100.00')
  const server = await home.start()
  let isAlive = true
  void server.exited.then(() => {
    isAlive = false
  })
  return { served: { port: server.port, secret, isAlive: () => isAlive }, pid: server.pid }
}

const lineOf = ({ name, inputs, slowestMs, faults }: Tried): string =>
  `${name}: ${inputs} inputs, the slowest ${slowestMs.toFixed(1)} ms, ${faults.length} faults`

type Result = Awaited<ReturnType<typeof drillFuzz>>

export function fuzzReport({ seconds, seed, tried, faults, build }: Result): string {
  const inputs = tried.reduce((sum, one) => sum + one.inputs, 0)
  const rows = tried.map(
    (one) => `| ${one.name} | ${one.inputs} | ${one.slowestMs.toFixed(1)} | ${one.faults.length} |`,
  )
  return `${headOf('Malformed input', `fuzz --seconds ${seconds} --seed ${seed}`, build)}

Good examples with something changed: bits and words, less and more of it, deep nesting, huge
numbers, halves of characters, zero bytes, names such as \`__proto__\`, line ends, borders of
chunks. Every reader of what comes from outside gets them, every route in its path, query, headers,
cookies and body, with and without key and session, a model's upstream answers with them, and the
executable gets bytes that are not a request. A reader takes an input or refuses it as documented,
within ${drillBounds.mostMs} ms, and keeps no part of it; a route never answers with a fault of
ours, tells no secret, moves no money when it refuses, and leaves the ledger balanced; the
executable answers the next request. Times are of the processor where the machine was busy; those of
routes and runs are of client and server together, those of sockets are of a good request right
after 16 others. The seed and the number of an input make it again.

**${faults.length} faults** in ${inputs.toLocaleString('en')} inputs.${faults
    .map((fault) => `\n- ${fault.replaceAll('\n', ' ').slice(0, 300)}`)
    .join('')}

| target | inputs | slowest ms | faults |
|---|---|---|---|
${rows.join('\n')}
`
}
