import { createWebhook, setLowBalance } from '../../src/billing/webhooks/webhooks.ts'
import { lookEveryMs } from '../../src/storage/db/engine/version.ts'
import { prng } from '../ledger/prng.ts'
import type { Engine } from '../support/world.ts'
import { type Command, cameOf, findBug, type Sim } from './command.ts'
import { letSecondPass } from './commands-doors.ts'
import { mint } from './commands-keys.ts'
import { forgetNode, keepAlive, replaceNode, stopRuns } from './commands-life.ts'
import { grant } from './commands-money.ts'
import { toldTypes } from './event-faults.ts'
import { farFaults } from './invariants.ts'
import { bag } from './kinds.ts'
import type { Mishap } from './lifeline.ts'
import { newModel } from './model.ts'
import { memoryFaults, nearFaults } from './near.ts'
import { openWorld } from './world.ts'

export type Simulation = {
  engine: Engine
  seed: number
  commands: number
  /** Ends it before all were played. */
  signal?: AbortSignal
}
/** How often each kind of command came to what. */
export type Seen = Map<string, number>
/** How many commands were played, and what they came to. */
export type Played = { commands: number; seen: Seen }

/** Between two looks at everything, in commands. */
const farEvery = 500
/** Between two looks at all windows. */
const wholeEvery = 10
/** Commands that are shown when something is wrong. */
const shown = 25

/** A broken invariant: the seed and the number of the command replay it. */
export class Broken extends Error {
  constructor(
    message: string,
    readonly commands = 0,
  ) {
    super(message)
  }
}

/**
 * Lets the whole service live through random commands, and compares it with the model after each.
 * @throws Broken
 */
export async function simulate(wish: Simulation): Promise<Played> {
  const { engine, seed, commands, signal } = wish
  const sim = await beginSimulation(engine, seed)
  const seen: Seen = new Map()
  const trail: string[] = []
  let number = 0
  try {
    for (let isLast = false; !isLast; ) {
      const step = await nextStep(sim, trail, number)
      for (const what of step.seen) seen.set(what, (seen.get(what) ?? 0) + 1)
      const passes = (every: number) =>
        Math.floor(number / every) < Math.floor((number + step.count) / every)
      const [isFar, whole] = [passes(farEvery), passes(wholeEvery)]
      number += step.count
      const near = await nearFaults(sim.w.db, sim.m, { keys: step.keys, whole })
      const memory = memoryFaults(
        sim.m,
        sim.nodes.map(({ db }) => db),
      )
      const faults = [...step.faults, ...near, ...memory]
      isLast = number >= commands || signal?.aborted === true
      if (isFar || isLast) faults.push(...(await farFaults(sim.w.db, sim.m)))
      for (const node of sim.nodes) faults.push(...node.errors)
      if (faults.length > 0) throw new Broken(faults.slice(0, 5).join('\n'))
    }
    for (const [type, count] of await toldTypes(sim.w.db)) seen.set(`told ${type}: ok`, count)
    return { commands: number, seen }
  } catch (error) {
    const replay = `bun run drill simulate --engine ${engine} --seed ${seed} --commands ${number}`
    const last = trail.slice(-shown).join('\n')
    const what = error instanceof Broken ? error.message : String((error as Error).stack ?? error)
    const story = `${what}\nafter command ${number} of seed ${seed}:\n${last}\n${replay}`
    throw new Broken(story, number)
  } finally {
    await endSimulation(sim)
  }
}

async function beginSimulation(engine: Engine, seed: number): Promise<Sim> {
  const w = await openWorld(engine, seed)
  const random = prng(seed)
  const nodes = [await w.start()]
  const writer = engine === 'sqlite' ? await w.open() : undefined
  if (engine !== 'sqlite') nodes.push(await w.start(random.pick([0, 0, 1500, -1500])))
  const accounts = [1, 2, 3].map((n) => `0x${n.toString(16).padStart(40, '0')}`)
  const blank = { balance: 0n, held: 0n, suspended: false, plan: 'free', planUntil: null } as const
  const m = newModel()
  for (const id of accounts) m.accounts.set(id, { ...blank, retention: 'none', paid: undefined })
  const empty = { flights: new Map(), said: [], asked: [], serial: 0 }
  const sim: Sim = { w, m, random, nodes, writer, accounts, ...empty }
  for (const account of accounts) {
    for (const command of [grant(sim, account), mint(sim, account)]) {
      await command.perform().catch(() => undefined)
      command.judge()
    }
  }
  await listen(sim)
  return sim
}

/** One account has events of its runs; all have a threshold near the balance they often have. */
async function listen({ nodes, accounts }: Sim): Promise<void> {
  const [node] = nodes
  const [first, ...others] = accounts.map((account) => ({ account, actor: 'simulation' }))
  if (!node || !first) throw new Error('a simulation without accounts')
  await createWebhook(node.deps, first, { url: 'https://hooks.test/', events: ['run.ended'] })
  await setLowBalance(node.deps, first, 10_000_000n)
  for (const one of others) await setLowBalance(node.deps, one, 4_000_000n)
}

async function endSimulation({ w, nodes, writer }: Sim): Promise<void> {
  for (const node of [...nodes, ...(writer ? [writer] : [])]) node.close()
  await w.close()
}

type Step = { count: number; faults: string[]; keys: string[]; seen: string[] }

async function nextStep(sim: Sim, trail: string[], number: number): Promise<Step> {
  const { random, w } = sim
  const passed = random.below(random.below(4) === 0 ? 3000 : 200)
  w.time.now += passed
  w.time.mono += passed
  if (number % 8 === 0) await keepAlive(sim)
  const dice = random.below(100)
  if (dice < 12) return race(sim, trail, number)
  if (dice === 15 && random.below(4) === 0) return replace(sim, trail, number)
  // From here on it is performed: a command that ends a run has taken it off what is in flight.
  const command = nextCommand(sim)
  const step = await perform(sim, trail, number, command, dice)
  if (isForeign(sim)(command)) await untilSeen()
  return step
}

async function perform(
  sim: Sim,
  trail: string[],
  number: number,
  command: Command,
  dice: number,
): Promise<Step> {
  if (dice < 13 && (command.isAtomic || command.judgeCut)) return kill(sim, trail, number, command)
  if (dice < 15 && command.isAtomic) return disturb(sim, trail, number, command)
  const came = await cameOf(command.perform())
  return judged(trail, number, [{ command, came }])
}

function nextCommand(sim: Sim): Command {
  for (;;) {
    const command = sim.random.pick(bag)(sim)
    // Enough is in flight.
    const isMore = command?.kind.startsWith('begin') && sim.flights.size >= 30
    if (command && !isMore) return command
  }
}

type Came = { command: Command; came: string }

/** What the service came to, in its order, against the model. */
function judged(trail: string[], number: number, all: Came[]): Step {
  const step: Step = { count: all.length, faults: [], keys: [], seen: [] }
  all.forEach(({ command, came }, i) => {
    const { kind, say, node, keys } = command
    trail.push(`${number + i} ${node.name.slice(-4)} ${kind} ${say}: ${came}`)
    const verdict = command.judge()
    step.seen.push(`${kind}: ${/^\d/.test(came) ? 'ok' : came.split(/[ ,]/)[0]}`)
    if (came !== verdict) {
      const bug = came === 'bug' ? `\n${(findBug() as Error)?.stack}` : ''
      step.faults.push(`${kind} ${say} came to ${came}, not ${verdict}${bug}`)
    }
    step.keys.push(...(keys ?? []))
  })
  return step
}

const once = new Set(['rotate', 'store old'])

/** Posts several commands at once, in the ledger's order; those of several COMMITs run last. */
async function race(sim: Sim, trail: string[], number: number): Promise<Step> {
  const commands: Command[] = []
  let last: Command | undefined
  while (!last && !commands.some(isForeign(sim)) && commands.length < 2 + sim.random.below(5)) {
    const command = nextCommand(sim)
    // Of two rotations at once it is open whose secret it is that others act with; a job is not
    // begun again while it runs.
    const isSecond = once.has(command.kind) && commands.some(({ kind }) => kind === command.kind)
    if (command.isAtomic && !isSecond) commands.push(command)
    else last = command
  }
  const step = await together(trail, number, commands)
  if (commands.some(isForeign(sim))) await untilSeen()
  if (!last || step.faults.length > 0) return step
  if (last.asks) letSecondPass(sim)
  const came = await cameOf(last.perform())
  if (isForeign(sim)(last)) await untilSeen()
  return merge(step, judged(trail, number + step.count, [{ command: last, came }]))
}

/** Whether a command writes beside the server, which looks for that every few milliseconds. */
const isForeign =
  ({ writer }: Sim) =>
  ({ node }: Command): boolean =>
    node === writer

/** Until a server looks again. The model knows no millisecond in which it has not looked. */
const untilSeen = (): Promise<void> => Bun.sleep(lookEveryMs + 1)

async function together(trail: string[], number: number, commands: Command[]): Promise<Step> {
  trail.push(`at once, ${commands.length}:`)
  const came = commands.map(async (command) => ({ command, came: await cameOf(command.perform()) }))
  const all = await Promise.all(came)
  all.sort((a, b) => a.command.trace.turn - b.command.trace.turn)
  return judged(trail, number, all)
}

const merge = (a: Step, b: Step): Step => ({
  count: a.count + b.count,
  faults: [...a.faults, ...b.faults],
  keys: [...a.keys, ...b.keys],
  seen: [...a.seen, ...b.seen],
})

/** The process dies in the middle of a command, before or after one of its COMMITs. */
async function kill(sim: Sim, trail: string[], number: number, command: Command): Promise<Step> {
  const { random } = sim
  const { node } = command
  const mishap: Mishap = random.pick(['killed before', 'killed after'])
  const after = random.below(command.commits ?? 1)
  const happened = node.line.plan(mishap, after)
  const ran = cameOf(command.perform())
  const came = await Promise.race([happened.then(() => mishap), ran])
  const step: Step = { count: 1, faults: [], keys: command.keys ?? [], seen: [`kill: ${mishap}`] }
  if (node.line.calm()) return merge(judged(trail, number, [{ command, came }]), step)
  const commits = after + (mishap === 'killed after' ? 1 : 0)
  if (command.judgeCut) command.judgeCut(commits)
  else if (commits > 0) command.judge()
  trail.push(`${number} ${node.name.slice(-4)} ${command.kind} ${command.say}: ${mishap} ${after}`)
  await goOn(sim, node)
  return step
}

/** The database fails one write of a process that lives on. */
async function disturb(sim: Sim, trail: string[], number: number, command: Command): Promise<Step> {
  const mishap: Mishap = sim.random.pick(['refused', 'lost'])
  const { node, trace } = command
  const flying = [...sim.flights.keys()]
  void node.line.plan(mishap)
  const came = await cameOf(command.perform())
  if (node.line.calm()) return judged(trail, number, [{ command, came }])
  trail.push(`${number} ${node.name.slice(-4)} ${command.kind} ${command.say}: ${mishap}, ${came}`)
  if (mishap === 'lost') command.judge()
  // What could not be stored, or no one knows to be stored, is tried again.
  const run = trace.ids.get('run')
  if (run !== undefined && !flying.includes(run)) node.unsettled.add(run)
  // A refusal writes nothing but the event of it, and is one without that too.
  const isRefused = command.kind.startsWith('begin') && /^(insufficient|cap)_/.test(came)
  const isTold = came === 'bug' || command.isUnheard === true || isRefused
  const faults = isTold ? [] : [`${command.kind} came to ${came} although its write failed`]
  return { count: 1, faults, keys: command.keys ?? [], seen: [`disturb: ${mishap}`] }
}

/** A process dies between two commands, or is stopped, and what it runs is ended first. */
async function replace(sim: Sim, trail: string[], number: number): Promise<Step> {
  const node = sim.random.pick(sim.nodes)
  const isKilled = sim.random.below(2) === 0
  const drains = [...sim.flights.values()].some(
    (flight) => flight.node === node && flight.heard !== undefined,
  )
  const what = `${isKilled ? 'die' : 'stop'}: ${drains ? 'draining' : 'restarted'}`
  const step: Step = { count: 1, faults: [], keys: [], seen: [what] }
  trail.push(`${number} ${node.name.slice(-4)} ${isKilled ? 'dies' : 'is stopped'}`)
  if (!isKilled) {
    const came = await stopRuns(sim, node)
    if (came.some((one) => one !== 'as it must')) step.faults.push(`stopped runs: ${came}`)
  }
  await goOn(sim, node)
  return step
}

async function goOn(sim: Sim, node: Sim['nodes'][number]): Promise<void> {
  if (node === sim.writer) {
    node.close()
    sim.writer = await sim.w.open()
    return
  }
  forgetNode(sim, node)
  await replaceNode(sim, node)
}
