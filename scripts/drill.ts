/**
 * `bun run drill [crash] [--rounds 50] [--crowds 3] [--report docs/drills.md]`: kills the binary
 * with SIGKILL in the middle of runs and streams, starts it again, and checks every figure against
 * what its clients were told; then sends 1,000 runs at once where 50 can be paid.
 * `bun run drill export [--runs 1000000]` exports a large log; `bun run drill share
 * [--streams 1000]` stalls streams of one key and looks how another account fares; `bun run drill
 * copy [--runs 100000]` copies a SQLite database to the server that `TEST_DATABASE_URL` names.
 */
import { parseArgs } from 'node:util'
import { grant, type Home, makeHome, makeKey, must } from '../test/support/binary.ts'
import { pacedModels, startPacedUpstream } from '../test/support/paced-upstream.ts'
import { check } from './drill-check.ts'
import { copyReport, drillCopy } from './drill-copy.ts'
import { type CrowdResult, drillCrowds } from './drill-crowd.ts'
import { drillExport, exportReport } from './drill-export.ts'
import { load, nothingSeen, type Seen } from './drill-load.ts'
import { report, stampOf } from './drill-report.ts'
import { drillShare, shareReport } from './drill-share.ts'

export type Round = {
  round: number
  /** From the first request to the kill, in ms. */
  killedAfterMs: number
  /** Whether the restart was killed too, in ms after its start. */
  killedInRecoveryMs: number | undefined
  /** From the last start to the first good answer, in ms. */
  readyMs: number
  /** Since the first round. */
  acknowledged: number
  begun: number
  runs: number
  interrupted: number
  faults: string[]
}

export type DrillOptions = { rounds: number; crowds: number; say?: (line: string) => void }

/** The account's credit: far more than the rounds can spend. */
const credit = '1000.00'
const creditNusd = 1_000_000_000_000

/** Rates that nothing here runs into: money and crashes are what is drilled. */
const roomy = `
[limits]
rpm = 10_000_000
concurrency = 100_000

[[plans]]
id = "free"
limits = { rpm = 10_000_000, concurrency = 100_000 }
`

/** All rounds kill one and the same data folder, so that a fault once made stays visible. */
export async function drill({ rounds, crowds, say = () => {} }: DrillOptions) {
  const stub = await startPacedUpstream()
  const home = await makeHome(`${pacedModels(stub.url)}\n${roomy}`)
  try {
    const { secret } = await makeKey(home, { cap: credit })
    await grant(home, credit)
    const seen = nothingSeen()
    const killed: Round[] = []
    for (let round = 1; round <= rounds; round++) {
      const result = await killOnce(home, secret, seen, round)
      killed.push(result)
      say(lineOf(result))
    }
    const crowded: CrowdResult[] = []
    const server = await home.start()
    for (let turn = 0; turn < crowds; turn++) {
      for (const result of await drillCrowds(home, server)) {
        crowded.push(result)
        say(`1,000 at once, ${result.name}: ${wordsOf(result)}`)
      }
    }
    await server.stop()
    const build = await must(home, 'version', '--json')
    return { killed, crowded, build: build.trim() }
  } finally {
    await home.remove()
    await stub.stop()
  }
}

async function killOnce(home: Home, key: string, seen: Seen, round: number): Promise<Round> {
  const server = await home.start()
  const killedAfterMs = between(30, 700)
  const loading = load(server, key, seen)
  await Bun.sleep(killedAfterMs)
  await server.stop('SIGKILL')
  await loading
  const killedInRecoveryMs = round % 2 === 0 ? between(40, 160) : undefined
  if (killedInRecoveryMs !== undefined) await home.killStarting(killedInRecoveryMs)
  const again = await home.start()
  const { faults, runs } = await check(again, key, seen, creditNusd)
  const ended = await again.stop(round % 3 === 0 ? 'SIGTERM' : 'SIGKILL')
  if (round % 3 === 0 && ended !== 0) faults.push(`SIGTERM ended with ${ended}`)
  return {
    round,
    killedAfterMs,
    killedInRecoveryMs,
    readyMs: Math.round(again.readyMs),
    acknowledged: seen.paid.size,
    begun: seen.begun.size,
    runs: runs.size,
    interrupted: [...runs.values()].filter((run) => run.status === 'interrupted').length,
    faults,
  }
}

const between = (least: number, most: number): number =>
  Math.round(least + Math.random() * (most - least))

const wordsOf = ({ paid, refused, faults }: CrowdResult): string =>
  [`${paid} paid, ${refused} refused`, ...faults].join('; ')

const lineOf = (round: Round): string =>
  [
    `round ${round.round}: killed after ${round.killedAfterMs} ms`,
    ...(round.killedInRecoveryMs ? [`again ${round.killedInRecoveryMs} ms into the restart`] : []),
    `${round.acknowledged} acknowledged of ${round.runs} runs, ${round.interrupted} interrupted`,
    round.faults.length === 0 ? 'balanced' : `FAULTS: ${round.faults.slice(0, 5).join('; ')}`,
  ].join(', ')

type Result = Awaited<ReturnType<typeof drill>>

/** The sections of the report that are about crashes and crowds. */
export function reportOf({ killed, crowded, build }: Result): string {
  const last = killed.at(-1)
  const faults = [...killed, ...crowded].reduce((sum, { faults }) => sum + faults.length, 0)
  const rows = killed.map((round) => {
    const again = round.killedInRecoveryMs ?? '–'
    const { acknowledged, runs, interrupted, readyMs } = round
    const figures = [acknowledged, runs, interrupted, readyMs, round.faults.length]
    return `| ${[round.round, round.killedAfterMs, again, ...figures].join(' | ')} |`
  })
  const sizes = crowded.map((crowd) => `- ${crowd.name}: ${wordsOf(crowd)}`)
  const columns =
    'round | killed after ms | restart killed after ms | answers held | runs | interrupted | ' +
    'restart ms | faults'
  return `## Killed in the middle of runs

\`bun run drill crash\`, ${stampOf(build)}

${killed.length} rounds on one data folder. In each, 24 clients run models (plain, streamed, native,
in the background) until SIGKILL at a random moment; every second time the restart is killed too.
Then it starts again and is checked: the ledger is balanced, nothing is held, the balance is what
was granted less the cost of every run, each answer that a client holds is there with its cost and
its receipt, and each run that was cut is \`interrupted\`, cost nothing and has a receipt.

**${faults} faults.** In the end there are ${last?.runs ?? 0} runs. Clients hold
${last?.acknowledged ?? 0} whole answers; ${last?.interrupted ?? 0} runs were interrupted.

| ${columns} |
|${'---|'.repeat(columns.split('|').length)}
${rows.join('\n')}

## 1,000 runs at once, 50 can be paid

${sizes.length > 0 ? sizes.join('\n') : 'Not run.'}
`
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '50' },
      crowds: { type: 'string', default: '3' },
      runs: { type: 'string' },
      streams: { type: 'string', default: '1000' },
      report: { type: 'string', default: 'docs/drills.md' },
    },
  })
  const say = (line: string) => console.log(line)
  const drills: Record<string, () => Promise<{ sections: string; faults: string[] }>> = {
    async crash() {
      const numbers = { rounds: Number(values.rounds), crowds: Number(values.crowds) }
      const result = await drill({ ...numbers, say })
      const faults = [...result.killed, ...result.crowded].flatMap(({ faults }) => faults)
      return { sections: reportOf(result), faults }
    },
    async export() {
      const result = await drillExport(Number(values.runs ?? 1_000_000), say)
      return { sections: exportReport(result), faults: result.faults }
    },
    async copy() {
      const result = await drillCopy(Number(values.runs ?? 100_000), say)
      return { sections: copyReport(result), faults: result.faults }
    },
    async share() {
      const result = await drillShare(Number(values.streams), say)
      return { sections: shareReport(result), faults: result.faults }
    },
  }
  const chosen = drills[positionals[0] ?? 'crash']
  if (!chosen) throw new Error(`there are: ${Object.keys(drills).join(', ')}`)
  const { sections, faults } = await chosen()
  report(values.report, sections)
  console.log(`${faults.length} faults; written to ${values.report}`)
  process.exitCode = faults.length === 0 ? 0 : 1
}

if (import.meta.main) await main()
