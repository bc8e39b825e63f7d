/**
 * Kills the binary with SIGKILL at every point of a run under load, starts it again, and checks
 * every figure against what its clients were told; fails each write of a settle; cuts the log as a
 * power loss would; then sends 1,000 runs at once where 50 can be paid.
 */
import { must } from '../test/support/binary.ts'
import type { Asked } from './asked.ts'
import { type Point, points } from './crash-points.ts'
import { type CrowdResult, drillCrowds } from './crowd.ts'
import { type Bench, makeBench, startOn } from './fault-bench.ts'
import { judgeAll } from './fault-judge.ts'
import { canTrace, type Row } from './fault-tools.ts'
import { drillFaults, faultTable, settleFaults } from './faults.ts'
import { headOf } from './report.ts'

export type Round = {
  round: number
  point: Point
  isHit: boolean
  /** Requests of this round, and those that broke or were refused. */
  asked: number
  broken: number
  refused: number
  /** Of those that broke at `/v1/runs`, whose runs are found without an answer. */
  gone: number
  interrupted: number
  stored: number
  /** Whether the restart was killed too. */
  isTwice: boolean
  /** From the last start to the first good answer, in ms. */
  readyMs: number
  /** Since the first round. */
  runs: number
  faults: string[]
}

export type DrillOptions = {
  rounds: number
  crowds: number
  /** Parts whose name contains this: points, settle, crowds. */
  only?: string
  say?: (line: string) => void
}

/** Receipts that are verified after each round. */
const receipts = 40

/** All rounds kill one and the same data folder, so that a fault once made stays visible. */
export async function drillCrash({ rounds, crowds, only = '', say = () => {} }: DrillOptions) {
  const does = (part: string): boolean => part.includes(only)
  await using bench = await makeBench()
  const killed = does('points') ? await killAll(bench, rounds, say) : []
  const broken = does('settle') ? (await drillFaults(settleFaults, say)).rows : []
  const crowded = does('crowds') ? await crowd(bench, crowds, say) : []
  const build = await must(bench.home, 'version', '--json')
  const faults = [...killed, ...broken, ...crowded].flatMap((part) => part.faults)
  return { killed, broken, crowded, faults, build: build.trim() }
}

async function killAll(bench: Bench, rounds: number, say: (line: string) => void) {
  const isTraceable = await canTrace()
  const able = points.filter(({ isTraced }) => isTraceable || !isTraced)
  const killed: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    const result = await killOnce(bench, able[(round - 1) % able.length] as Point, round)
    killed.push(result)
    say(lineOf(result))
  }
  return killed
}

async function crowd({ home }: Bench, crowds: number, say: (line: string) => void) {
  const crowded: CrowdResult[] = []
  const server = await home.start()
  for (let turn = 0; turn < crowds; turn++) {
    for (const result of await drillCrowds(home, server)) {
      crowded.push(result)
      say(`1,000 at once, ${result.name}: ${wordsOf(result)}`)
    }
  }
  await server.stop()
  return crowded
}

async function killOnce(bench: Bench, point: Point, round: number): Promise<Round> {
  const server = await startOn(bench)
  const struck = await point.strike(bench, server)
  const isTwice = round % 3 === 0
  if (isTwice) await bench.home.killStarting(40 + Math.random() * 120)
  const again = await startOn(bench)
  const { faults, fateOf, asked, runs } = await judgeAll(bench, again, receipts)
  faults.unshift(...struck.faults, ...unexpected(asked, point))
  const looked = point.look?.(fateOf(struck.held), struck)
  faults.push(...(looked?.faults ?? []))
  const ended = await again.stop(round % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
  if (round % 2 === 0 && ended !== 0) faults.push(`SIGTERM ended with ${ended}`)
  const broken = asked.filter((one) => !one.paid && one.status !== 202)
  return {
    round,
    point,
    isHit: looked?.isHit ?? struck.isHit,
    asked: asked.length,
    broken: broken.filter(({ status }) => status === 0).length,
    refused: broken.filter(({ status }) => status >= 500).length,
    ...fateOf(broken.filter((one) => one.door === 'runs' && one.status === 0)),
    isTwice,
    readyMs: Math.round(again.readyMs),
    runs,
    faults,
  }
}

/** Answers that neither the kill nor the fault explains. */
function unexpected(asked: readonly Asked[], { mayRefuse }: Point): string[] {
  return asked.flatMap(({ id, status, reason }) => {
    const isUsual = [0, 200, 202].includes(status) && !reason
    if (isUsual || (mayRefuse && reason?.startsWith('storage_'))) return []
    return [`${id} was answered with ${status} ${reason}`]
  })
}

const wordsOf = ({ paid, refused, faults }: CrowdResult): string =>
  [`${paid} paid, ${refused} refused`, ...faults].join('; ')

const lineOf = (round: Round): string =>
  [
    `round ${round.round}, ${round.point.name}${round.isHit ? '' : ' (missed)'}`,
    `${round.broken} of ${round.asked} broke, ${round.refused} were refused`,
    `${round.gone} gone, ${round.interrupted} interrupted, ${round.stored} stored`,
    `ready after ${round.readyMs} ms`,
    round.faults.length === 0 ? 'balanced' : `FAULTS: ${round.faults.slice(0, 5).join('; ')}`,
  ].join(', ')

type Result = Awaited<ReturnType<typeof drillCrash>>

/** The sections of the report that are about crashes and crowds; only of parts that ran. */
export function crashReport({ killed, broken, crowded, build }: Result): string {
  return [
    killed.length > 0 ? killedReport(killed, build) : '',
    broken.length > 0 ? brokenReport(broken, build) : '',
    crowded.length > 0 ? crowdReport(crowded) : '',
  ].join('\n')
}

function killedReport(killed: readonly Round[], build: string): string {
  const last = killed.at(-1)
  const sum = (some: readonly Round[], field: 'asked' | 'broken' | 'refused' | Fated): number =>
    some.reduce((total, one) => total + one[field], 0)
  const rows = [...Map.groupBy(killed, ({ point }) => point)].map(([point, all]) => {
    const hits = all.filter(({ isHit }) => isHit).length
    const fates = (['gone', 'interrupted', 'stored'] as const).map((field) => sum(all, field))
    const counts = [sum(all, 'broken'), sum(all, 'refused'), ...fates, faultsIn(all).length]
    return `| ${[point.name, point.expected, all.length, hits, ...counts].join(' | ')} |`
  })
  const columns =
    'killed | expected | rounds | hit | broken | refused | gone | interrupted | stored | faults'
  return `${headOf('Killed in the middle of runs', 'crash', build)}

${killed.length} rounds on one data folder, each killed with SIGKILL at a point of its own. Clients
run models: plain, streamed and in the background, with and without an Idempotency-Key. \`strace\`
kills at a system call; a model server that holds its answers keeps runs between hold and end. Every
third time the restart is killed too. After it each request under an Idempotency-Key is made again.
Then the ledger is balanced, nothing is held, the balance is what was granted less the cost of every
run, each answer that a client holds is there with its cost and its receipt, no request was charged
twice, nothing else was charged, the newest ${receipts} receipts verify, and
\`counterfoil doctor\` finds every page whole.

A point is hit if the process died there: after a \`COMMIT\` only if a charge was found that no
answer had told, in the sweep only if the runs had no rows yet. *Gone*, *interrupted* and *stored*
count the broken requests at \`/v1/runs\` by their run: not there, ended at no charge, charged.

**${faultsIn(killed).length} faults.** ${sum(killed, 'asked')} requests; in the end there are
${last?.runs ?? 0} runs.${faultsIn(killed)
    .map((fault) => `\n- ${fault}`)
    .join('')}

| ${columns} |
|${'---|'.repeat(columns.split('|').length)}
${rows.join('\n')}
`
}

type Fated = 'gone' | 'interrupted' | 'stored'

const faultsIn = (rounds: readonly Round[]): string[] =>
  rounds.flatMap(({ round, faults }) => faults.map((fault) => `round ${round}: ${fault}`))

const brokenReport = (
  rows: readonly Row[],
  build: string,
): string => `${headOf('Each write of a settle', 'crash', build)}

One run is held by its model server; then \`strace\` or a limit of the file's size breaks one system
call of its end, each in turn. The caller gets a 503 or a whole answer; after a restart the books
balance and no 503 was charged, unless the COMMIT survived a sync that
failed: then a repeated call is told the answer. And the write-ahead log of a killed server is cut
at every frame, as a power loss leaves it.

${faultTable(rows)}
`

const crowdReport = (
  crowded: readonly CrowdResult[],
): string => `## 1,000 runs at once, 50 can be paid

${crowded.map((crowd) => `- ${crowd.name}: ${wordsOf(crowd)}`).join('\n')}
`
