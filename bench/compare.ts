/**
 * `bun run bench [--seconds 4] [--rounds 3] [--portkey] [--frames-per-second 10|50]`: the compiled
 * gateway beside a bare pass-through, side by side on this machine, and the table of the gates.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runDisconnects } from './disconnect.ts'
import { type Load, type LoadResult, runLoad } from './load.ts'
import { run, usageOf } from './processes.ts'
import {
  measureStart,
  type Running,
  startCounterfoil,
  startPortkey,
  startProxy,
  startStub,
} from './targets.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    portkey: { type: 'boolean', default: false },
    'frames-per-second': { type: 'string', default: '10' },
  },
})
const seconds = Number(options.seconds)
const rounds = Number(options.rounds)

const started: Running[] = []

async function compare(folder: string): Promise<void> {
  const startsMs: number[] = []
  for (let i = 0; i < 5; i++) startsMs.push(await measureStart(`${folder}/start-${i}`))
  const stub = await keep(startStub())
  const proxy = await keep(startProxy(stub))
  const gateway = await keep(startCounterfoil(stub, `${folder}/counterfoil`))
  const portkey = options.portkey ? await keep(startPortkey(stub, `${folder}/portkey`)) : undefined
  const idleMiB = usageOf(gateway.pid).rssMiB
  const all = [stub, proxy, gateway, ...(portkey ? [portkey] : [])]

  const paid = await interleave('32 connections, plain', all, plain(32))
  const alone = await interleave('1 connection, plain', all, plain(1))
  await interleave('32 connections, streams of 16 unpaced frames', all, {
    ...plain(32),
    stream: true,
  })
  const paced = await interleave('1,000 paced streams', [stub, gateway], pacedLoad())
  const cut = await measureDisconnects(gateway, stub)

  const cpu = (target: Running | undefined) => (target ? median(paid, target, cpuUs) : Number.NaN)
  const p50 = (target: Running) => median(alone, target, (result) => result.latencyMs.p50)
  const p99 = (target: Running) => median(alone, target, (result) => result.latencyMs.p99)
  const frames = (target: Running) => median(paced, target, (result) => result.framesPerSecond)
  const usage = usageOf(gateway.pid)
  console.log('\n| quantity | measured | gate | |\n|---|---|---|---|')
  gate('CPU of a paid run against the pass-through', cpu(gateway) / cpu(proxy), '≤', 2.5)
  if (portkey) gate('CPU of Portkey against a paid run', cpu(portkey) / cpu(gateway), '≥', 6)
  gate('1,000 disconnects: streams the upstream saw stopped', cut.stopped, '≥', 1)
  gate('1,000 disconnects: nUSD still held or lost', cut.astrayNusd, '≤', 0)
  gate('1,000 disconnects: growth, MiB', cut.growthMiB, '≤', 20)
  gate('1,000 paced streams: frames against direct', frames(gateway) / frames(stub), '≥', 0.9)
  gate('start to first answer, empty database, ms', middle(startsMs), '≤', 150)
  note('paid runs a second, 32 connections', median(paid, gateway, perSecond))
  note('added latency p50, ms, 1 connection', p50(gateway) - p50(stub))
  note('added latency p99, ms, 1 connection', p99(gateway) - p99(stub))
  note('memory idle, MiB', idleMiB)
  note('memory at most, MiB', usage.peakMiB)
  if (existsSync('bench/ledger.ts')) {
    console.log('\nDurable runs, in process (bench/ledger.ts):')
    Bun.spawnSync([process.execPath, 'bench/ledger.ts'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  }
}

async function keep(starting: Promise<Running>): Promise<Running> {
  const target = await starting
  started.push(target)
  return target
}

const plain = (connections: number): Load => ({
  behaviour: 't16',
  stream: false,
  connections,
  seconds,
})

function pacedLoad(): Load {
  const behaviour = options['frames-per-second'] === '50' ? 't150-i20' : 't60-i100'
  return { behaviour, stream: true, connections: 1000, seconds: Math.max(seconds, 6) }
}

type Results = Map<Running, LoadResult[]>

/** Loads every target in turn, `rounds` times, so that a busy minute of the machine hits all. */
async function interleave(title: string, targets: Running[], load: Load): Promise<Results> {
  console.log(title)
  const results: Results = new Map(targets.map((target) => [target, []]))
  for (const target of targets) await warmUp(target, load)
  for (let round = 0; round < rounds; round++) {
    for (const target of targets) {
      const result = await runLoad(target, load)
      results.get(target)?.push(result)
      console.log(lineOf(target.name, result))
    }
  }
  return results
}

/** Until a round costs no longer 5 % less CPU than the one before: compilers take their time. */
async function warmUp(target: Running, load: Load): Promise<void> {
  let before = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 15; turn++) {
    const { cpuUsPerRequest } = await runLoad(target, { ...load, seconds: 2 })
    if (cpuUsPerRequest > before * 0.95) return
    before = cpuUsPerRequest
  }
}

function lineOf(name: string, result: LoadResult): string {
  const { p50, p99 } = result.latencyMs
  const failed = Object.entries(result.errors).map(([what, count]) => `${what}: ${count}`)
  return [
    `  ${name.padEnd(13)}${result.perSecond.toFixed(0).padStart(7)}/s`,
    `p50 ${p50.toFixed(2)} p99 ${p99.toFixed(2)} ms`,
    `first ${result.firstMs.p50.toFixed(2)} ms`,
    `${result.cpuUsPerRequest.toFixed(1)} µs CPU`,
    `${result.framesPerSecond.toFixed(0)} frames/s`,
    `${result.after?.rssMiB.toFixed(0)} MiB`,
    ...failed,
  ].join('  ')
}

/** Cuts 1,000 streams, then looks whether every hold was settled and no money went astray. */
async function measureDisconnects(gateway: Running, stub: Running) {
  const before = await accountOf(gateway)
  const result = await runDisconnects(gateway, stub.origin, 1000, 100)
  let after = await accountOf(gateway)
  for (let tries = 0; after.held !== 0 && tries < 30; tries++) {
    await Bun.sleep(100)
    after = await accountOf(gateway)
  }
  const paid = before.balance - after.balance
  const counted = after.spent - before.spent
  const { streams, cut, stillActive, tokensSent, tokensWhole, growthMiB } = result
  console.log(`1,000 disconnects\n  ${cut} of ${streams} stopped, ${stillActive} still run`)
  console.log(`  ${tokensSent} of ${tokensWhole} tokens generated, ${paid} nUSD paid`)
  const astrayNusd = after.held + Math.abs(paid - counted)
  return { stopped: cut / streams, astrayNusd, growthMiB }
}

async function accountOf({ origin, headers }: Running) {
  const answer = await fetch(`${origin}/v1/keys/self`, { headers })
  const { account, cap } = (await answer.json()) as {
    account: { balance_nusd: number; held_nusd: number }
    cap: { spent_nusd: number }
  }
  return { balance: account.balance_nusd, held: account.held_nusd, spent: cap.spent_nusd }
}

const cpuUs = (result: LoadResult) => result.cpuUsPerRequest
const perSecond = (result: LoadResult) => result.perSecond

function median(results: Results, target: Running, value: (result: LoadResult) => number): number {
  return middle((results.get(target) ?? []).map(value))
}

function middle(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function gate(quantity: string, measured: number, sign: '≤' | '≥', bound: number): void {
  const holds = sign === '≤' ? measured <= bound : measured >= bound
  const row = [quantity, digits(measured), `${sign} ${bound}`, holds ? 'holds' : 'MISSED']
  console.log(`| ${row.join(' | ')} |`)
}

function note(quantity: string, measured: number): void {
  console.log(`| ${quantity} | ${digits(measured)} | | |`)
}

const digits = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 0)

// Last, because it uses what is defined above.
const folder = await mkdtemp(join(tmpdir(), 'counterfoil-bench-'))
try {
  if (!existsSync('dist/counterfoil')) await run([process.execPath, 'run', 'build'])
  console.log(`Bun ${Bun.version}, ${cpus().length} cores, ${rounds} rounds of ${seconds} s\n`)
  await compare(folder)
} finally {
  await Promise.all(started.map((target) => target.process.stop()))
  await rm(folder, { recursive: true, force: true })
}
process.exit(0)
