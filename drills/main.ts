/**
 * `bun run drill [name] [options]`: the big numbers, too long for the tests. Each drill starts the
 * executable, does its worst to it, and writes what it found into `reports/drills.md`.
 */
import { parseArgs } from 'node:util'
import { backupReport, drillBackup } from './backup.ts'
import { clusterReport, drillCluster } from './cluster.ts'
import { copyReport, drillCopy } from './copy.ts'
import { crashReport, drillCrash } from './crash.ts'
import { demoReport, drillDemo } from './demo.ts'
import { drillEvents, eventsReport } from './events.ts'
import { drillExport, exportReport } from './export.ts'
import { drillFaults, everyFault, faultsReport } from './faults.ts'
import { drillFirst, firstReport } from './first.ts'
import { drillFuzz, fuzzReport } from './fuzz.ts'
import { drillHostile, hostileReport } from './hostile.ts'
import { drillLiabilities, liabilitiesReport } from './liabilities.ts'
import { drillRecover, recoverReport } from './recover.ts'
import { report } from './report.ts'
import { drillShare, shareReport } from './share.ts'
import { drillSimulate, simulateReport } from './simulate.ts'
import { drillSoak, soakReport } from './soak.ts'
import { drillStop, stopReport } from './stop.ts'

const options = {
  /** crash, events, stop: kills and stops of the server; crash: crowds of 1,000 runs after them. */
  rounds: { type: 'string' },
  crowds: { type: 'string', default: '3' },
  /** events: how many are delivered. */
  events: { type: 'string', default: '1000' },
  /** backup, copy, export, recover: runs in the database. */
  runs: { type: 'string' },
  /** share: streams of one key that stall. */
  streams: { type: 'string', default: '1000' },
  /** demo: how many at once. */
  visitors: { type: 'string', default: '200' },
  /** demo, hostile, soak: how long; soak: requests a second. */
  minutes: { type: 'string' },
  rate: { type: 'string', default: '80' },
  /** cluster, crash, faults: those whose name contains this; all without it. */
  only: { type: 'string', default: '' },
  /** liabilities: accounts of the service that is killed; hostile: those without money. */
  accounts: { type: 'string' },
  /** liabilities: accounts of the statement that is timed. */
  large: { type: 'string' },
  /** simulate: engine, how many seeds from which on, commands of each, processes; or one seed. */
  engine: { type: 'string', default: 'sqlite' },
  seeds: { type: 'string', default: '100' },
  first: { type: 'string', default: '1' },
  commands: { type: 'string', default: '10000' },
  processes: { type: 'string', default: '1' },
  seed: { type: 'string' },
  /** fuzz: how long; `seed` makes the same inputs again. */
  seconds: { type: 'string', default: '600' },
  report: { type: 'string', default: 'reports/drills.md' },
} as const

const say = (line: string) => console.log(line)

type Found = { sections: string; faults: readonly string[] }

/** Runs a drill and writes down what it found. */
async function found<T extends { faults: readonly string[] }>(
  drill: Promise<T>,
  toReport: (result: T) => string,
): Promise<Found> {
  const result = await drill
  return { sections: toReport(result), faults: result.faults }
}

const numberOf = (word: string | undefined, usual = 0): number => Number(word ?? usual)

const drills: Record<string, () => Promise<Found>> = {
  backup: () => found(drillBackup(numberOf(values.runs, 100_000), say), backupReport),
  cluster: () => found(drillCluster(values.only, say), clusterReport),
  crash() {
    const numbers = { rounds: numberOf(values.rounds, 200), crowds: Number(values.crowds) }
    return found(drillCrash({ ...numbers, only: values.only, say }), crashReport)
  },
  demo() {
    const numbers = { visitors: Number(values.visitors), minutes: numberOf(values.minutes, 10) }
    return found(drillDemo({ ...numbers, resets: 3, pauseMs: 8000 }, say), demoReport)
  },
  events() {
    const numbers = { events: Number(values.events), rounds: numberOf(values.rounds, 28) }
    return found(drillEvents({ ...numbers, say }), eventsReport)
  },
  export: () => found(drillExport(numberOf(values.runs, 1_000_000), say), exportReport),
  faults() {
    const chosen = everyFault.filter(({ name }) => name.includes(values.only))
    return found(drillFaults(chosen, say), faultsReport)
  },
  copy: () => found(drillCopy(numberOf(values.runs, 100_000), say), copyReport),
  first: () => found(drillFirst(say), firstReport),
  fuzz() {
    const seed = numberOf(values.seed, Date.now() % 1_000_000)
    return found(drillFuzz({ seconds: Number(values.seconds), seed, say }), fuzzReport)
  },
  hostile() {
    const budget = { writes: 10_000, bytes: 16 * 1024 * 1024 }
    const numbers = {
      accounts: numberOf(values.accounts, 10),
      minutes: numberOf(values.minutes, 10),
    }
    return found(drillHostile({ ...numbers, ...budget, say }), hostileReport)
  },
  liabilities() {
    const numbers = {
      accounts: numberOf(values.accounts, 300),
      large: numberOf(values.large, 100_000),
    }
    const wishes = { ...numbers, strides: { steps: 1, calls: 1 }, say }
    return found(drillLiabilities(wishes), liabilitiesReport)
  },
  recover: () => found(drillRecover(numberOf(values.runs, 100_000), say), recoverReport),
  share: () => found(drillShare(Number(values.streams), say), shareReport),
  simulate() {
    const { engine, seed, seeds, first, commands, processes } = values
    const numbers = { seeds: Number(seeds), first: Number(first), commands: Number(commands) }
    const wish = { engine, seed, ...numbers, processes: Number(processes) }
    // What a replay finds is for anyone who replays.
    return found(drillSimulate(wish, say), seed === undefined ? simulateReport : () => '')
  },
  soak() {
    const load = { minutes: numberOf(values.minutes, 30), perSecond: Number(values.rate) }
    return found(drillSoak({ ...load, say }), soakReport)
  },
  stop: () => found(drillStop(numberOf(values.rounds, 20), say), stopReport),
}

const { values, positionals } = readWords()
const chosen = drills[positionals[0] ?? 'crash'] ?? refuse('There is no such drill.')
const { sections, faults } = await chosen()
report(values.report, sections)
console.log(`${faults.length} faults; written to ${values.report}`)
process.exitCode = faults.length === 0 ? 0 : 1

function readWords() {
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

function refuse(why: string): never {
  const given = Object.entries(options).map(([name, option]) =>
    'default' in option && option.default ? `--${name}=${option.default}` : `--${name}=…`,
  )
  console.error(`${why}\nbun run drill [${Object.keys(drills).join(' | ')}]\n  ${given.join(' ')}`)
  process.exit(64)
}
