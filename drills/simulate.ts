import { type Seen, simulate } from '../test/simulation/simulate.ts'
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
  seeds: number
  commands: number
  seen: Seen
  seconds: number
  faults: string[]
}

/** The whole service lives through random commands, for each seed on a fresh database. */
export async function drillSimulate(wish: Wish, say: (line: string) => void): Promise<Simulated> {
  const engine = engines.find((one) => one === wish.engine)
  if (!engine) throw new Error(`there are ${engines.join(', ')}; postgres with TEST_DATABASE_URL`)
  const { commands } = wish
  const seeds = wish.seed
    ? [Number(wish.seed)]
    : Array.from({ length: wish.seeds }, (_, i) => i + 1)
  const seen: Seen = new Map()
  const faults: string[] = []
  const begun = performance.now()
  for (const seed of seeds) {
    try {
      const some = await simulate({ engine, seed, commands })
      for (const [what, times] of some) seen.set(what, (seen.get(what) ?? 0) + times)
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
      say(faults.at(-1) ?? '')
    }
    // What a killed process had open goes when it is collected.
    Bun.gc(true)
    const passed = ((performance.now() - begun) / 1000).toFixed(0)
    say(`seed ${seed}: ${commands} commands, ${faults.length} faults, ${passed} s so far`)
  }
  const seconds = (performance.now() - begun) / 1000
  return { engine, seeds: seeds.length, commands, seen, seconds, faults }
}

export function simulateReport({ engine, seeds, commands, seen, seconds, faults }: Simulated) {
  const all = (seeds * commands).toLocaleString('en')
  const day = new Date().toISOString().slice(0, 10)
  const played = `--engine ${engine} --seeds ${seeds} --commands ${commands}`
  const others = engine === 'sqlite' ? 'a second writer' : 'two nodes'
  return `## The whole service, simulated on ${engine}

\`bun run drill simulate ${played}\`, ${day}.

Keys, runs, chunks, reports of usage, failing model servers, clients that hang up, deposits and
reorgs, plans, calls that are made again, ${others}, clocks that jump, writes that
fail, and processes that are killed before and after a COMMIT:
${all} random commands over ${seeds} seeds, in ${seconds.toFixed(0)} s. After each
the service is compared with a model of it; every 500 all of its rows, its journal and its log are.

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
