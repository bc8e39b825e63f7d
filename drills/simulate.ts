import { join } from 'node:path'
import { useWasmKeccak } from '../src/verify/fast/keccak-wasm.ts'
import { Broken, type Seen, simulate } from '../test/simulation/simulate.ts'
import { type Engine, engines } from '../test/support/world.ts'

export type Wish = {
  engine: string
  /** One seed that is to be replayed; else as many as `seeds`, from `first` on. */
  seed: string | undefined
  seeds: number
  first: number
  /** Of each seed. */
  commands: number
  /** How many processes share the seeds. */
  processes: number
}

export type Simulated = {
  engine: Engine
  /** How it was asked for, in words of the command line. */
  asked: string
  seeds: number
  /** Of all seeds. */
  commands: number
  seen: Seen
  seconds: number
  faults: string[]
}

/**
 * The whole service lives through random commands, for each seed on a fresh database. Stopped by a
 * signal it looks at everything once more, and tells what it found so far.
 */
export async function drillSimulate(wish: Wish, say: (line: string) => void): Promise<Simulated> {
  const engine = engines.find((one) => one === wish.engine)
  if (!engine) throw new Error(`there are ${engines.join(', ')}; postgres with TEST_DATABASE_URL`)
  const { commands, processes, first } = wish
  const seeds = wish.seed
    ? [Number(wish.seed)]
    : Array.from({ length: wish.seeds }, (_, i) => first + i)
  const begun = performance.now()
  const parts = Array.from({ length: Math.min(processes, seeds.length) }, (_, part) => ({
    engine,
    seeds: seeds.filter((_, i) => i % processes === part),
    commands,
  }))
  const from = first === 1 ? '' : `--first ${first} `
  const [alone] = parts
  const all =
    parts.length === 1 && alone ? [await playSeeds(alone, say)] : await playApart(parts, say)
  const seen: Seen = new Map()
  for (const [what, times] of all.flatMap((part) => part.seen)) {
    seen.set(what, (seen.get(what) ?? 0) + times)
  }
  return {
    engine,
    asked: `--engine ${engine} ${from}--seeds ${seeds.length} --commands ${commands}`,
    seeds: all.reduce((sum, part) => sum + part.seeds, 0),
    commands: all.reduce((sum, part) => sum + part.commands, 0),
    seen,
    seconds: (performance.now() - begun) / 1000,
    faults: all.flatMap(({ faults }) => faults),
  }
}

/** The seeds that one process plays, one after the other. */
export type Part = { engine: Engine; seeds: number[]; commands: number }
export type PartPlayed = {
  seeds: number
  commands: number
  seen: [what: string, times: number][]
  faults: string[]
}

/** What is done at a signal that else ends the process. */
function onStop(act: () => void): void {
  for (const name of ['SIGINT', 'SIGTERM']) {
    // A library that is loaded here ends the process at once.
    process.removeAllListeners(name)
    process.on(name, act)
  }
}

export async function playSeeds(
  { engine, seeds, commands }: Part,
  say: (line: string) => void,
): Promise<PartPlayed> {
  // As servers do.
  useWasmKeccak()
  const stop = new AbortController()
  onStop(() => stop.abort())
  const played: PartPlayed = { seeds: 0, commands: 0, seen: [], faults: [] }
  const begun = performance.now()
  for (const seed of seeds) {
    if (stop.signal.aborted) break
    try {
      const one = await simulate({ engine, seed, commands, signal: stop.signal })
      played.commands += one.commands
      played.seen.push(...one.seen)
    } catch (error) {
      if (error instanceof Broken) played.commands += error.commands
      played.faults.push(error instanceof Error ? error.message : String(error))
      say(played.faults.at(-1) ?? '')
    }
    played.seeds++
    // What a killed process had open goes when it is collected.
    Bun.gc(true)
    const passed = ((performance.now() - begun) / 1000).toFixed(0)
    const { commands: count, faults } = played
    say(`seed ${seed}: ${count} commands, ${faults.length} faults, ${passed} s so far`)
  }
  return played
}

/** Each part in a process of its own; a signal stops all of them. */
function playApart(parts: Part[], say: (line: string) => void): Promise<PartPlayed[]> {
  const stop = new AbortController()
  onStop(() => stop.abort())
  return Promise.all(parts.map((part) => playInChild(part, say, stop.signal)))
}

async function playInChild(
  part: Part,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<PartPlayed> {
  let played: PartPlayed | undefined
  const script = join(import.meta.dir, 'simulate-part.ts')
  const child = Bun.spawn([process.execPath, script, JSON.stringify(part)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message: PartPlayed | string) => {
      if (typeof message === 'string') say(message)
      else played = message
    },
  })
  stop.addEventListener('abort', () => child.kill('SIGTERM'))
  await child.exited
  const faults = [`a process ended: ${child.exitCode}`]
  return played ?? { seeds: 0, commands: 0, seen: [], faults }
}

export function simulateReport(found: Simulated): string {
  const { engine, asked, seeds, commands, seen, seconds, faults } = found
  const all = commands.toLocaleString('en')
  const day = new Date().toISOString().slice(0, 10)
  const others = engine === 'sqlite' ? 'a second writer' : 'two nodes'
  const held = engine === 'sqlite' ? 'are in memory alone and with rows' : 'have rows'
  return `## The whole service, simulated on ${engine}

\`bun run drill simulate ${asked}\`, ${day}.

Keys and secrets that are rotated, runs (streamed, whole, in the background), chunks, reports of
usage, failing model servers, clients that hang up, deposits and reorgs, plans, vouchers, refunds,
calls at three doors that are made again, kept outputs and texts, ${others}, clocks that jump,
writes that fail, and
processes that are killed before and after a COMMIT, with runs that ${held}:
${all} random commands over ${seeds} seeds, in ${seconds.toFixed(0)} s. After each
the service is compared with a model of it: what it came to, balances, holds, plans, open runs,
those in memory alone, and the windows it touched; every 10 all windows are, and every 500 all
rows, the journal, the log, and the events with what they tell.

**${faults.length} faults.**${faults.map((fault) => `\n- ${fault.split('\n')[0]}`).join('')}

${tableOf(seen)}
`
}

/** What each kind of command came to, and how often, in the order of how often. */
function tableOf(seen: Seen): string {
  const often = [...seen].sort(([, a], [, b]) => b - a)
  const kinds = Map.groupBy(often, ([what]) => what.split(': ')[0] ?? '')
  const lines = [...kinds].map(([kind, all]) => {
    const came = all.map(([what, times]) => `${what.split(': ')[1] ?? ''} ${times}`)
    return `- ${kind}: ${came.join(', ')}`
  })
  return lines.join('\n')
}
