/**
 * `bun run drill [name] [options]`: the big numbers, too long for the tests. Each drill starts the
 * executable, does its worst to it, and writes what it found into `docs/drills.md`.
 */
import { parseArgs } from 'node:util'
import { copyReport, drillCopy } from './copy.ts'
import { crashReport, drillCrash } from './crash.ts'
import { drillExport, exportReport } from './export.ts'
import { report } from './report.ts'
import { drillShare, shareReport } from './share.ts'
import { drillSoak, soakReport } from './soak.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** crash: kills of the server, and crowds of 1,000 runs after them. */
    rounds: { type: 'string', default: '50' },
    crowds: { type: 'string', default: '3' },
    /** copy, export: runs in the database. */
    runs: { type: 'string' },
    /** share: streams of one key that stall. */
    streams: { type: 'string', default: '1000' },
    /** soak: how long, and requests a second. */
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '80' },
    report: { type: 'string', default: 'docs/drills.md' },
  },
})

const say = (line: string) => console.log(line)

type Found = { sections: string; faults: readonly string[] }

const drills: Record<string, () => Promise<Found>> = {
  async crash() {
    const numbers = { rounds: Number(values.rounds), crowds: Number(values.crowds) }
    const result = await drillCrash({ ...numbers, say })
    const faults = [...result.killed, ...result.crowded].flatMap(({ faults }) => faults)
    return { sections: crashReport(result), faults }
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
  async soak() {
    const load = { minutes: Number(values.minutes), perSecond: Number(values.rate) }
    const result = await drillSoak({ ...load, say })
    return { sections: soakReport(result), faults: result.faults }
  },
}

const chosen = drills[positionals[0] ?? 'crash']
if (!chosen) throw new Error(`there are: ${Object.keys(drills).join(', ')}`)
const { sections, faults } = await chosen()
report(values.report, sections)
console.log(`${faults.length} faults; written to ${values.report}`)
process.exitCode = faults.length === 0 ? 0 : 1
