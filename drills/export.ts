import { usageOf } from '../bench/processes.ts'
import { grant, makeHome, makeKey, must, type Server } from '../test/support/binary.ts'
import { claims } from '../test/support/judges.ts'
import { pricedBuiltins, until } from '../test/support/runs.ts'
import { faultList, headOf } from './report.ts'
import { type Columns, readExport } from './rows.ts'
import { seedRuns } from './seed.ts'

export type Exported = {
  format: 'csv' | 'jsonl' | 'focus'
  records: number
  mebibytes: number
  seconds: number
  /** CPU of the server for one record, in µs. */
  cpuUs: number
  /** Memory of the server before, and the most while it wrote. */
  beforeMiB: number
  mostMiB: number
}

const formats = ['csv', 'jsonl', 'focus'] as const
/** Far below what a large export has: what grows with it is seen. */
const mostGrowthMiB = 96
/** The key names of the drill: a spreadsheet must not run them. */
const names = ['=cmd|calc!A0', '@SUM(1+1)*cmd']

/** Exports a large log twice in each form, and compares every figure with the ledger. */
export async function drillExport(count: number, say: (line: string) => void = () => {}) {
  await using home = await makeHome(pricedBuiltins)
  const { faults, claim } = claims()
  await (await home.start()).stop()
  const cap = '9000000.00'
  const root = await makeKey(home, { cap }, '--name', names[0] ?? '')
  const child = await makeKey(home, { cap }, '--name', names[1] ?? '', '--parent', root.id)
  await grant(home, '1000000.00')
  await seedRuns({ data: home.data, origin: 'http://localhost:4663', root, child, count })
  say(`${count} runs are in the log`)
  const server = await home.start()
  const figures = await untilCounted(server, root.secret)
  claim(figures.status.ledger === 'balanced', `the ledger is ${figures.status.ledger}`)
  claim(figures.paid === figures.spent, `the balance lost ${figures.paid}, not ${figures.spent}`)
  claim(figures.paid === figures.used, `usage says ${figures.used}, not ${figures.paid}`)
  const exported: Exported[] = []
  for (const format of formats) {
    const first = await download(server, root.secret, format)
    // Something happens between the two; the first place after it is not in the second.
    await runOnce(server, root.secret)
    const again = await download(server, root.secret, format, first.asOf)
    claim(first.digest === again.digest, `${format}: other bytes with the same as_of`)
    faults.push(...first.faults.map((fault) => `${format}: ${fault}`))
    const records = count - Math.ceil(count / 10) + exported.length
    claim(first.runs === records, `${format}: ${first.runs} runs of ${records}`)
    const paid = figures.paid + exported.length * runCost
    claim(first.nusd === BigInt(paid), `${format}: comes to ${first.nusd}, not ${paid} nUSD`)
    const mostMiB = Math.max(first.used.mostMiB, again.used.mostMiB)
    const growth = mostMiB - first.used.beforeMiB
    claim(growth < mostGrowthMiB, `${format}: memory grew by ${growth.toFixed(0)} MiB`)
    const { beforeMiB } = first.used
    exported.push({ ...first.used, format, records: first.records, beforeMiB, mostMiB })
    say(lineOf(exported.at(-1)))
  }
  await server.stop()
  const build = await must(home, 'version', '--json')
  return { count, exported, faults, nusd: figures.paid, build }
}

/** What a run of {@link runOnce} costs: 1 × 150,000 + 1 × 600,000 pico-USD. */
const runCost = 750

async function runOnce(server: Server, key: string): Promise<void> {
  const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'word' }] }
  const answer = await server.call('/v1/chat/completions', { key, json })
  const { receipt } = (await answer.json()) as { receipt: { cost_nusd: number } }
  if (receipt.cost_nusd !== runCost) throw new Error(`a run cost ${receipt.cost_nusd}`)
}

/** Waits for the job that counts; then what the balance lost, the key spent and usage sums up. */
async function untilCounted(server: Server, key: string) {
  const from = new Date(Date.now() - 60 * 86_400_000).toISOString().slice(0, 10)
  const to = new Date().toISOString().slice(0, 10)
  const usage = await until(
    'the runs to be counted',
    async () => {
      const read = await server.get(`/v1/usage?from=${from}&to=${to}`, key)
      return read.uncounted === 0 && read
    },
    300_000,
  )
  const balance = await server.get('/v1/balance', key)
  const { cap } = await server.get('/v1/keys/self', key)
  const status = await server.get('/v1/status')
  const paid = 1_000_000_000_000_000 - balance.balance_nusd
  return { paid, spent: cap.spent_nusd, used: usage.totals.cost_nusd, status }
}

async function download(server: Server, key: string, format: Exported['format'], asOf?: string) {
  const path = `/v1/usage/export?format=${format}${asOf ? `&as_of=${asOf}` : ''}`
  const before = usageOf(server.pid)
  const begun = performance.now()
  let mostMiB = before.rssMiB
  const watch = setInterval(() => {
    mostMiB = Math.max(mostMiB, usageOf(server.pid).rssMiB)
  }, 20)
  try {
    const answer = await server.call(path, { key })
    if (answer.status !== 200 || !answer.body) throw new Error(await answer.text())
    const read = await readExport(answer.body, format satisfies keyof Columns)
    const seconds = (performance.now() - begun) / 1000
    const cpuUs = (usageOf(server.pid).cpuUs - before.cpuUs) / Math.max(1, read.records)
    const used = {
      seconds,
      cpuUs,
      beforeMiB: before.rssMiB,
      mostMiB,
      mebibytes: read.bytes / 2 ** 20,
    }
    return { ...read, asOf: answer.headers.get('x-as-of') ?? '', used }
  } finally {
    clearInterval(watch)
  }
}

const lineOf = (one: Exported | undefined): string =>
  one === undefined
    ? ''
    : `${one.format}: ${one.records} records, ${one.mebibytes.toFixed(0)} MiB in ` +
      `${one.seconds.toFixed(1)} s, ${one.cpuUs.toFixed(1)} µs of CPU a record; the server's ` +
      `memory was ${one.beforeMiB.toFixed(0)} MiB before and ${one.mostMiB.toFixed(0)} at most`

type Result = Awaited<ReturnType<typeof drillExport>>

export const exportReport = ({ count, exported, faults, nusd, build }: Result): string =>
  `${headOf(`An export of ${count.toLocaleString('en')} runs`, 'export', build)}

The runs are written straight into the database, with the transfers they made; the audit of the
whole ledger is balanced. A tenth is another account's; tags, models and names of keys are formulas
of spreadsheets, commas, quotes and line breaks. Each form is downloaded twice with one \`as_of\`,
with a run between the two, and read by a strict parser: the bytes are the same; every run of the
key and the key below it is there once, and no other's; costs come to what the balance lost
(${(nusd / 1e9).toFixed(9)} USD), which is what the key spent and what \`/v1/usage\` sums up; no
field would be run as a formula; every mandatory column of FOCUS 1.2 is there.

${faultList(faults)}

${exported.map((one) => `- ${lineOf(one)}`).join('\n')}
`
