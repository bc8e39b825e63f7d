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

const drills: Record<string, () => Promise<Found>> = {
  async backup() {
    const result = await drillBackup(Number(values.runs ?? 100_000), say)
    return { sections: backupReport(result), faults: result.faults }
  },
  async cluster() {
    const result = await drillCluster(values.only, say)
    return {
      sections: clusterReport(result),
      faults: [result.scenes, result.shards, result.failovers, result.moves]
        .flat()
        .flatMap(({ faults }) => faults),
    }
  },
  async crash() {
    const { rounds = 200, crowds, only } = values
    const numbers = { rounds: Number(rounds), crowds: Number(crowds), only }
    const result = await drillCrash({ ...numbers, say })
    const all = [...result.killed, ...result.broken, ...result.crowded]
    const faults = all.flatMap(({ faults }) => faults)
    return { sections: crashReport(result), faults }
  },
  async demo() {
    const { minutes = 10, visitors } = values
    const numbers = { visitors: Number(visitors), minutes: Number(minutes) }
    const result = await drillDemo({ ...numbers, resets: 3, pauseMs: 8000 }, say)
    return { sections: demoReport(result), faults: result.faults }
  },
  async events() {
    const numbers = { events: Number(values.events), rounds: Number(values.rounds ?? 28) }
    const result = await drillEvents({ ...numbers, say })
    return { sections: eventsReport(result), faults: result.faults }
  },
  async export() {
    const result = await drillExport(Number(values.runs ?? 1_000_000), say)
    return { sections: exportReport(result), faults: result.faults }
  },
  async faults() {
    const chosen = everyFault.filter(({ name }) => name.includes(values.only))
    const result = await drillFaults(chosen, say)
    return { sections: faultsReport(result), faults: result.rows.flatMap(({ faults }) => faults) }
  },
  async copy() {
    const result = await drillCopy(Number(values.runs ?? 100_000), say)
    return { sections: copyReport(result), faults: result.faults }
  },
  async fuzz() {
    const seed = Number(values.seed ?? Date.now() % 1_000_000)
    const result = await drillFuzz({ seconds: Number(values.seconds), seed, say })
    return { sections: fuzzReport(result), faults: result.faults }
  },
  async hostile() {
    const budget = { writes: 10_000, bytes: 16 * 1024 * 1024 }
    const numbers = {
      accounts: Number(values.accounts ?? 10),
      minutes: Number(values.minutes ?? 10),
    }
    const result = await drillHostile({ ...numbers, ...budget, say })
    return { sections: hostileReport(result), faults: result.faults }
  },
  async liabilities() {
    const numbers = {
      accounts: Number(values.accounts ?? 300),
      large: Number(values.large ?? 100_000),
    }
    const result = await drillLiabilities({ ...numbers, strides: { steps: 1, calls: 1 }, say })
    return { sections: liabilitiesReport(result), faults: result.faults }
  },
  async recover() {
    const result = await drillRecover(Number(values.runs ?? 100_000), say)
    return { sections: recoverReport(result), faults: result.faults }
  },
  async share() {
    const result = await drillShare(Number(values.streams), say)
    return { sections: shareReport(result), faults: result.faults }
  },
  async simulate() {
    const { engine, seed, seeds, first, commands, processes } = values
    const numbers = { seeds: Number(seeds), first: Number(first), commands: Number(commands) }
    const wish = { engine, seed, ...numbers, processes: Number(processes) }
    const result = await drillSimulate(wish, say)
    // What a replay finds is for anyone who replays.
    const sections = seed === undefined ? simulateReport(result) : ''
    return { sections, faults: result.faults }
  },
  async soak() {
    const load = { minutes: Number(values.minutes ?? 30), perSecond: Number(values.rate) }
    const result = await drillSoak({ ...load, say })
    return { sections: soakReport(result), faults: result.faults }
  },
  async stop() {
    const result = await drillStop(Number(values.rounds ?? 20), say)
    return { sections: stopReport(result), faults: result.faults }
  },
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
