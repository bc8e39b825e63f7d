import { Broken, type Seen, simulate } from '../test/simulation/simulate.ts'
import { type Engine, engines } from '../test/support/world.ts'

export type Wish = {
  engine: string
  /** One seed that is to be replayed; else as many as `seeds`, from 1 on. */
  seed: string | undefined
  seeds: number
  /** Of each seed. */
  commands: number
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
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM']) {
    // A library that is loaded here ends the process at once.
    process.removeAllListeners(name)
    process.on(name, () => stop.abort())
  }
  const seeds = wish.seed
    ? [Number(wish.seed)]
    : Array.from({ length: wish.seeds }, (_, i) => i + 1)
  const seen: Seen = new Map()
  const faults: string[] = []
  const begun = performance.now()
  let [commands, done] = [0, 0]
  for (const seed of seeds) {
    if (stop.signal.aborted) break
    try {
      const played = await simulate({ engine, seed, commands: wish.commands, signal: stop.signal })
      commands += played.commands
      for (const [what, times] of played.seen) seen.set(what, (seen.get(what) ?? 0) + times)
    } catch (error) {
      if (error instanceof Broken) commands += error.commands
      faults.push(error instanceof Error ? error.message : String(error))
      say(faults.at(-1) ?? '')
    }
    done++
    // What a killed process had open goes when it is collected.
    Bun.gc(true)
    const passed = ((performance.now() - begun) / 1000).toFixed(0)
    say(`seed ${seed}: ${commands} commands, ${faults.length} faults, ${passed} s so far`)
  }
  const seconds = (performance.now() - begun) / 1000
  const asked = `--engine ${engine} --seeds ${seeds.length} --commands ${wish.commands}`
  return { engine, asked, seeds: done, commands, seen, seconds, faults }
}

export function simulateReport(found: Simulated): string {
  const { engine, asked, seeds, commands, seen, seconds, faults } = found
  const all = commands.toLocaleString('en')
  const day = new Date().toISOString().slice(0, 10)
  const others = engine === 'sqlite' ? 'a second writer' : 'two nodes'
  return `## The whole service, simulated on ${engine}

\`bun run drill simulate ${asked}\`, ${day}.

Keys and secrets that are rotated, runs (streamed, whole, in the background), chunks, reports of
usage, failing model servers, clients that hang up, deposits and reorgs, plans, calls that are made
again, kept outputs and texts, ${others}, clocks that jump, writes that fail, and processes
that are killed before and after a COMMIT:
${all} random commands over ${seeds} seeds, in ${seconds.toFixed(0)} s. After each
the service is compared with a model of it: what it came to, balances, holds, plans, open runs and
the windows it touched; every 10 all windows are, and every 500 all rows, the journal and the log.

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
