/**
 * Kills the binary with SIGKILL in the middle of runs and streams, starts it again, and checks
 * every figure against what its clients were told; then sends 1,000 runs at once where 50 can be
 * paid.
 */
import { grant, type Home, makeHome, makeKey, must } from '../test/support/binary.ts'
import { startPacedUpstream } from '../test/support/paced-upstream.ts'
import { check } from './check.ts'
import { type CrowdResult, drillCrowds } from './crowd.ts'
import { drilledModels, load, nothingSeen, roomy, type Seen } from './load.ts'
import { stampOf } from './report.ts'

export type Round = {
  round: number
  /** From the first request to the kill, every other time from the first answer; in ms. */
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

/** All rounds kill one and the same data folder, so that a fault once made stays visible. */
export async function drillCrash({ rounds, crowds, say = () => {} }: DrillOptions) {
  const stub = await startPacedUpstream()
  const home = await makeHome(`${drilledModels(stub.url)}\n${roomy}`)
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
  const before = seen.begun.size
  const loading = load(server, key, seen)
  // Every other time something was answered: a busy machine takes long for the first.
  if (round % 2 === 1) await Promise.race([loading, untilMore(seen, before)])
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

async function untilMore({ begun }: Seen, before: number): Promise<void> {
  const until = performance.now() + 10_000
  while (begun.size === before && performance.now() < until) await Bun.sleep(5)
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

type Result = Awaited<ReturnType<typeof drillCrash>>

/** Rounds that the table leaves out stand in its sums all the same. */
const shownEvery = 10

/** The sections of the report that are about crashes and crowds. */
export function crashReport({ killed, crowded, build }: Result): string {
  const last = killed.at(-1)
  const faults = [...killed, ...crowded].reduce((sum, { faults }) => sum + faults.length, 0)
  const shown = killed.filter(({ round, faults }) => round % shownEvery === 0 || faults.length > 0)
  const rows = shown.map((round) => {
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
Every tenth round, and each with a fault:

| ${columns} |
|${'---|'.repeat(columns.split('|').length)}
${rows.join('\n')}

## 1,000 runs at once, 50 can be paid

${sizes.length > 0 ? sizes.join('\n') : 'Not run.'}
`
}
