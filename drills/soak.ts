/**
 * A day of a service in half an hour: a steady load of everything on the executable, and what the
 * process needs for it, looked at every ten seconds.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { usageOf } from '../bench/processes.ts'
import { readExposition } from '../test/app/metrics/exposition.ts'
import { type Home, must, type Server } from '../test/support/binary.ts'
import { claims, metricsUrl, spentBy, untilFree } from '../test/support/judges.ts'
import { credit, makePacedService, roomy } from '../test/support/paced-service.ts'
import { pricedBuiltins } from '../test/support/runs.ts'
import { testPrivateKey } from '../test/support/world.ts'
import { faultList, headOf } from './report.ts'
import { boundOf, medianOf, type Sample, type Span, spansOf, timesOf } from './samples.ts'
import { startTraffic, type Traffic } from './traffic.ts'

export type SoakOptions = { minutes: number; perSecond?: number; say?: (line: string) => void }

const sampleEveryMs = 10_000

/** What the last third of the time may need more than the third before it. */
const mostGrowthMiB = 32
const mostMoreHandles = 16
/** `journal_size_limit`; the log is moved into the file long before. */
const mostWalMiB = 64
/** A service warms up before it is level: from here on growth is a fault. In minutes. */
const judgedFrom = 10

/** Asks a fresh service for everything for a while. Found in the end: what grew, and its money. */
export async function drillSoak({ minutes, perSecond = 80, say = () => {} }: SoakOptions) {
  const metrics = '[metrics]\nlisten = "0"\n'
  await using service = await makePacedService([pricedBuiltins, metrics, roomy].join('\n'))
  const { home, secret: key } = service
  const server = await home.start()
  const wallet = `0x${testPrivateKey}` as const
  const traffic = await startTraffic({ server, key, wallet, perSecond })
  const samples: Sample[] = []
  const faults: string[] = []
  const watching = { home, server, traffic, samples, faults, say }
  const looks = Math.max(3, Math.round((minutes * 60_000) / sampleEveryMs))
  for (let turn = 1; turn <= looks; turn++) {
    await Bun.sleep((minutes * 60_000) / looks)
    await look(watching, (turn * minutes) / looks)
  }
  await traffic.stop()
  for (const fault of traffic.look().faults) faults.push(fault)
  faults.push(...(await moneyFaults(home, server, key)))
  const spans = spansOf(samples)
  faults.push(...faultsOf(samples, minutes))
  const build = await must(home, 'version', '--json')
  return { minutes, perSecond, spans, samples, faults, build }
}

type Watching = {
  home: Home
  server: Server
  traffic: Traffic
  samples: Sample[]
  faults: string[]
  say: (line: string) => void
}

async function look({ home, server, traffic, samples, faults, say }: Watching, minute: number) {
  const { asked, left, times, faults: found } = traffic.look()
  for (const fault of found) if (faults.length < 30) faults.push(`minute ${minute}: ${fault}`)
  const told = readExposition(await (await fetch(metricsUrl(home))).text())
  const lags = told.get('counterfoil_event_loop_lag_seconds')?.samples ?? []
  const buckets = lags.filter(({ name }) => name.endsWith('_bucket'))
  const lag = new Map(buckets.map(({ labels, value }) => [labels['le'] ?? '', value]))
  const before = samples.at(-1)?.lag
  const { median, p99 } = timesOf(times)
  const sample: Sample = {
    minute,
    asked,
    left,
    lag,
    rssMiB: usageOf(server.pid).rssMiB,
    heapMiB: (told.get('counterfoil_heap_bytes')?.samples[0]?.value ?? 0) / 2 ** 20,
    handles: readdirSync(`/proc/${server.pid}/fd`).length,
    walMiB: mebibytesOf(home, 'counterfoil.db-wal'),
    databaseMiB: mebibytesOf(home, 'counterfoil.db'),
    lagP99Ms: boundOf(lag, before, 0.99) * 1000,
    medianMs: median,
    p99Ms: p99,
  }
  samples.push(sample)
  say(lineOf(sample))
}

const mebibytesOf = (home: Home, name: string): number =>
  (statSync(join(home.data, name), { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20

/** What grew, of a service that was asked for the same all the time. */
function faultsOf(samples: Sample[], minutes: number): string[] {
  const faults = samples
    .filter(({ walMiB }) => walMiB > mostWalMiB)
    .map(({ minute, walMiB }) => `minute ${minute}: a WAL of ${walMiB.toFixed(0)} MiB`)
  if (minutes < judgedFrom) return faults
  const third = Math.floor(samples.length / 3)
  const growth = (of: (samples: Sample[]) => number) =>
    of(samples.slice(-third)) - of(samples.slice(-2 * third, -third))
  const memory = growth((some) => medianOf(some.map(({ rssMiB }) => rssMiB)))
  if (memory > mostGrowthMiB) faults.push(`its memory grew by ${memory.toFixed(0)} MiB`)
  // A busy machine lets requests pile up for a while; files that leak never go.
  const handles = growth((some) => Math.min(...some.map(({ handles }) => handles)))
  if (handles > mostMoreHandles) faults.push(`it has ${handles} open files more`)
  return faults
}

/** Whether each run of all that time was paid once, and nothing is held. Stops the server. */
async function moneyFaults(home: Home, server: Server, key: string): Promise<string[]> {
  const { faults, claim } = claims()
  const { balance_nusd: left } = await untilFree(server, key, 60_000)
  claim((await server.stop()) === 0, 'SIGTERM did not end with 0')
  const { runs, spent } = await spentBy(home)
  claim(left === credit - spent, `${left} nUSD are left, ${spent} were spent`)
  // Looks at every page, and at every balance against what moved.
  const copy = JSON.parse(await must(home, 'backup', 'soaked.db', '--json'))
  claim(copy.ledger === 'balanced', `the ledger is ${copy.ledger}`)
  claim(copy.log_size >= runs, `${runs} runs, ${copy.log_size} leaves`)
  return faults
}

const lineOf = (one: Sample): string =>
  `minute ${one.minute.toFixed(1)}: ${one.asked} asked, ${one.left} left out, ` +
  `${one.rssMiB.toFixed(0)} MiB ` +
  `(${one.heapMiB.toFixed(0)} of objects), ${one.handles} files, WAL ${one.walMiB.toFixed(1)}, ` +
  `database ${one.databaseMiB.toFixed(0)} MiB, lag p99 ${one.lagP99Ms} ms, reads ` +
  `${one.medianMs.toFixed(1)} / ${one.p99Ms.toFixed(0)} ms`

const rowOf = (span: Span): string => {
  const { minutes, asked, rssMiB, heapMiB, handles, walMiB, databaseMiB } = span
  const sizes = [asked, rssMiB, heapMiB, handles].map((value) => value.toFixed(0))
  const files = [walMiB.toFixed(1), databaseMiB.toFixed(0), span.lagP99Ms]
  const times = `${span.medianMs.toFixed(1)} / ${span.p99Ms.toFixed(0)}`
  return `| ${[minutes, ...sizes, ...files, times].join(' | ')} |`
}

type Result = Awaited<ReturnType<typeof drillSoak>>

export function soakReport({ minutes, perSecond, spans, samples, faults, build }: Result): string {
  const sum = (field: 'asked' | 'left') => samples.reduce((all, sample) => all + sample[field], 0)
  const [asked, left] = [sum('asked'), sum('left')].map((count) => count.toLocaleString('en'))
  const columns =
    'minutes | asked | memory MiB | objects MiB | open files | WAL MiB | database MiB | ' +
    'lag p99 ms | reads, median / p99 ms'
  return `${headOf(`${minutes} minutes of everything`, 'soak', build)}

${perSecond} requests a second of a server that began empty, ${asked} in all: runs of all sorts (a
third of them streamed, some left in the middle), reads by key, pages for visitors and for a
signed-in account, streams of events. On a machine that does other things too, ${left}
more were due while 300 were on their way, and left out. Every answer is the expected one; nothing
is held in the end, the balance is the grant less the cost of every run, and the ledger adds up.

Memory of the last third of the time (its median) is at most ${mostGrowthMiB} MiB above that of
the third before; SQLite's cache, 16 MiB of it, fills with the database. The least number of open
files is at most ${mostMoreHandles} above, and the write-ahead log stays below ${mostWalMiB} MiB.
Sizes are means; the lag is how late timers ran, which tells of the machine as well.

${faultList(faults)}

| ${columns} |
|${'---|'.repeat(columns.split('|').length)}
${spans.map(rowOf).join('\n')}
`
}
