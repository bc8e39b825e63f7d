/**
 * `bun run bench [--only paid,reads] [--before <binary>] [--no-portkey] [--large] [--seconds 1]
 * [--rounds 3]`: the compiled gateway, beside an older build of it, a bare pass-through and a peer
 * on this machine, as one table of ratios.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { measureCustomers } from './customers.ts'
import { measureCuts } from './cuts.ts'
import { measureDoors } from './doors.ts'
import { measureDurable } from './durable.ts'
import { measureLedger, measurePostgres } from './in-process.ts'
import { measureLatency } from './latency.ts'
import { measurePaid, type Peers } from './paid.ts'
import { installPeer, startPeer } from './peer.ts'
import { run } from './processes.ts'
import { measurePrompts } from './prompts.ts'
import { measureReads } from './reads.ts'
import type { Pace } from './rounds.ts'
import { measureNodes } from './served-nodes.ts'
import { measureServed } from './served-postgres.ts'
import { measureSize } from './size.ts'
import { measurePaced, measureUnpaced } from './streams.ts'
import { type Row, tableOf } from './table.ts'
import { type Running, startCounterfoil, startProxy, startStub } from './targets.ts'
import { measureTold } from './told.ts'

const { values: options } = parseArgs({
  allowNegative: true,
  options: {
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    portkey: { type: 'boolean', default: true },
    only: { type: 'string' },
    before: { type: 'string' },
    large: { type: 'boolean', default: false },
  },
})
/** Short rounds come to less than five minutes in all; long ones move less. */
const usual: Pace = options.large ? { seconds: 4, rounds: 5 } : { seconds: 1, rounds: 3 }
const pace: Pace = {
  seconds: Number(options.seconds ?? usual.seconds),
  rounds: Number(options.rounds ?? usual.rounds),
}
const started: Running[] = []

async function compare(folder: string): Promise<Row[]> {
  const stub = await keep(startStub())
  const proxy = await keep(startProxy(stub))
  const gateway = await keep(startCounterfoil(stub, { folder: join(folder, 'counterfoil') }))
  const before = options.before
    ? await keep(startBefore(stub, join(folder, 'before'), resolve(options.before)))
    : undefined
  const peers = options.portkey ? await startPeers(stub) : 'not asked for'
  const side = { stub, proxy, gateway, before, peers }
  const parts: Record<string, () => Promise<Row[]>> = {
    paid: () => measurePaid(side, pace, join(folder, 'twin')),
    customers: () => measureCustomers(side, pace, join(folder, 'customers')),
    prompts: () => measurePrompts(side, pace),
    told: () => measureTold(side, pace, join(folder, 'told')),
    latency: () => measureLatency(side, pace, folder),
    unpaced: () => measureUnpaced(side, pace),
    paced: () => measurePaced(side, pace, join(folder, 'fresh')),
    doors: () => measureDoors(side, pace, join(folder, 'doors')),
    cuts: () => measureCuts(side),
    durable: () => measureDurable(stub, gateway, pace, join(folder, 'in-memory')),
    ledger: () => measureLedger(pace),
    size: () => measureSize(pace, folder),
    reads: () => measureReads(side, pace),
    postgres: async () => [
      ...(await measurePostgres(pace)),
      ...(await measureServed(side, pace, join(folder, 'postgres'))),
    ],
    nodes: () => measureNodes(side, pace, join(folder, 'nodes')),
  }
  const rows: Row[] = []
  for (const name of options.only?.split(',') ?? Object.keys(parts)) {
    const part = parts[name]
    if (!part) throw new Error(`there are: ${Object.keys(parts).join(', ')}`)
    const begun = performance.now()
    rows.push(...(await part()))
    console.log(`${name}: ${((performance.now() - begun) / 1000).toFixed(0)} s\n`)
  }
  return rows
}

/** The binary of an older commit, with a data folder of its own. */
const startBefore = (stub: Running, folder: string, program: string): Promise<Running> =>
  startCounterfoil(stub, { name: 'before', folder, program })

async function keep(starting: Promise<Running>): Promise<Running> {
  const target = await starting
  started.push(target)
  return target
}

/** The peer on both engines; in their place, what kept them away. */
async function startPeers(stub: Running): Promise<Peers> {
  try {
    const folder = await installPeer()
    const onNode = await keep(startPeer('node', stub, folder))
    return { onNode, onBun: await keep(startPeer('bun', stub, folder)) }
  } catch (error) {
    console.error(error)
    return 'npm could not install it'
  }
}

const folder = await mkdtemp(join(tmpdir(), 'counterfoil-bench-'))
const begun = performance.now()
try {
  if (!existsSync('dist/counterfoil')) await run([process.execPath, 'run', 'build'])
  const { rounds, seconds } = pace
  console.log(`Bun ${Bun.version}, ${cpus().length} cores, ${rounds} rounds of ${seconds} s\n`)
  console.log(`\n${tableOf(await compare(folder)).join('\n')}`)
  console.log(`\n${((performance.now() - begun) / 1000).toFixed(0)} s`)
} finally {
  await Promise.all(started.map((target) => target.process.stop()))
  await rm(folder, { recursive: true, force: true })
}
process.exit(0)
