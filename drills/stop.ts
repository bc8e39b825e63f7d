/** Stops the binary with SIGTERM in the middle of short runs and of streams that never end. */
import { grant, type Home, makeHome, makeKey, must, type Server } from '../test/support/binary.ts'
import { startPacedUpstream } from '../test/support/paced-upstream.ts'
import { drilledModels, roomy } from './load.ts'
import { stampOf } from './report.ts'

export type Stop = {
  /** Short runs that clients hold whole answers of. */
  answered: number
  /** Streams that were told in band that the service stops. */
  told: number
  /** From SIGTERM to the end of the process, in ms. */
  tookMs: number
  faults: string[]
}

const creditNusd = 1_000_000_000_000
const workers = 24
const endless = 20
const graceMs = 3000
/** What the end may take after the grace: 5 s to settle, and the rest for a busy machine. */
const mostAfterMs = 15_000

/** All rounds stop one and the same service, so that a fault once made stays visible. */
export async function drillStop(rounds: number, say: (line: string) => void = () => {}) {
  const stub = await startPacedUpstream()
  const limits = roomy.replace('[limits]', `[limits]\nstop_grace_s = ${graceMs / 1000}`)
  const toml = `${drilledModels(stub.url)}\n${limits}`
  const home = await makeHome(toml)
  try {
    const { secret: key } = await makeKey(home)
    await grant(home, '1000.00')
    const held = new Set<string>()
    const stops: Stop[] = []
    for (let round = 1; round <= rounds; round++) {
      const stop = await stopOnce(home, key, held)
      stops.push(stop)
      say(`round ${round}: ${lineOf(stop)}`)
    }
    const faults = stops.flatMap(({ faults }, i) => faults.map((one) => `round ${i + 1}: ${one}`))
    return { stops, faults, build: await must(home, 'version', '--json') }
  } finally {
    await home.remove()
    await stub.stop()
  }
}

async function stopOnce(home: Home, key: string, held: Set<string>): Promise<Stop> {
  const faults: string[] = []
  const before = held.size
  const server = await home.start()
  const ask = (model: string, stream: boolean) =>
    server.call('/v1/chat/completions', {
      key,
      json: { model, stream, messages: [{ role: 'user', content: 'a drill' }] },
    })
  const opened = await Promise.all(Array.from({ length: endless }, () => ask('stub/endless', true)))
  const ends = opened.map((answer) => lastEventOf(answer))
  const working = Array.from({ length: workers }, (_, i) => work(ask, i, held, faults))
  await Bun.sleep(300 + Math.random() * 700)
  const asked = performance.now()
  server.signal('SIGTERM')
  const code = await server.exited
  const tookMs = performance.now() - asked
  await Promise.all(working)
  const last = await Promise.all(ends)
  const told = last.filter((event) => event.includes('"type":"unavailable"')).length
  if (told < endless) faults.push(`${endless - told} streams were not told, but: ${last.at(-1)}`)
  if (code !== 0) faults.push(`it ended with ${code}`)
  if (tookMs > graceMs + mostAfterMs) faults.push(`it took ${(tookMs / 1000).toFixed(1)} s`)
  faults.push(...(await settledFaults(home, key, held)))
  return { answered: held.size - before, told, tookMs, faults }
}

type Ask = (model: string, stream: boolean) => Promise<Response>

/** Short runs, one after the other, until nothing is taken any more. */
async function work(ask: Ask, worker: number, held: Set<string>, faults: string[]): Promise<void> {
  const models = ['stub/pace-5', 'stub/pace-50', 'stub/pace-300']
  for (let turn = worker; ; turn++) {
    let text: string
    let status: number
    try {
      const answer = await ask(models[turn % models.length] ?? '', turn % 2 === 0)
      status = answer.status
      text = await answer.text()
    } catch {
      // Not taken, or cut: which of them it was, the runs that are there tell.
      return
    }
    if (status === 503 && text.includes('"unavailable"')) return
    const receipt = /"receipt":\{"id":"(rcpt_\w+)"/.exec(text)?.[1]
    if (receipt) held.add(receipt)
    else return void faults.push(`a short run was told ${status}: ${text.slice(-200)}`)
  }
}

/** The last event of a stream, which may also be cut. */
async function lastEventOf(answer: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const bytes of answer.body ?? []) {
      text = (text + decoder.decode(bytes, { stream: true })).slice(-1000)
    }
  } catch (error) {
    return `cut: ${error}`
  }
  return text.trimEnd().split('\n\n').at(-1) ?? ''
}

type Run = { status: string; cost_nusd: number; receipt_id: string | null; model: string }

/** Whether each run that was paid whole is in a client's hands, and all is settled. */
async function settledFaults(home: Home, key: string, held: Set<string>): Promise<string[]> {
  const faults: string[] = []
  const server = await home.start()
  const { ledger } = await get<{ ledger: string }>(server, '/v1/status', key)
  if (ledger !== 'balanced') faults.push(`the ledger is ${ledger}`)
  let costs = 0
  for (const run of await allRuns(server, key)) {
    costs += run.cost_nusd
    if (run.receipt_id === null) faults.push(`a run is ${run.status} without a receipt`)
    else if (run.status === 'succeeded' && !held.has(run.receipt_id)) {
      faults.push(`${run.receipt_id} was paid, and its client has no answer`)
    }
    if (run.status === 'interrupted' || run.status === 'in_progress') {
      faults.push(`a run is ${run.status}`)
    }
  }
  type Money = { balance_nusd: number; held_nusd: number }
  const { balance_nusd: left, held_nusd } = await get<Money>(server, '/v1/balance', key)
  if (held_nusd !== 0) faults.push(`${held_nusd} nUSD are held`)
  if (left !== creditNusd - costs) faults.push(`${left} nUSD are left, ${costs} were spent`)
  await server.stop()
  return faults
}

async function get<T>(server: Server, path: string, key: string): Promise<T> {
  return (await (await server.call(path, { key })).json()) as T
}

async function allRuns(server: Server, key: string): Promise<Run[]> {
  const runs: Run[] = []
  type Page = { data: Run[]; has_more: boolean; last_id: string }
  for (let after = ''; ; ) {
    const page = await get<Page>(server, `/v1/runs?limit=100${after}`, key)
    runs.push(...page.data)
    if (!page.has_more) return runs
    after = `&after=${page.last_id}`
  }
}

const lineOf = ({ answered, told, tookMs, faults }: Stop): string =>
  [
    `${answered} short runs were answered, ${told} streams were told`,
    `it ended after ${(tookMs / 1000).toFixed(1)} s`,
    ...faults.slice(0, 3),
  ].join('; ')

type Result = Awaited<ReturnType<typeof drillStop>>

export function stopReport({ stops, faults, build }: Result): string {
  const answered = stops.reduce((sum, stop) => sum + stop.answered, 0)
  const times = stops.map(({ tookMs }) => tookMs / 1000)
  const [least, most] = [Math.min(...times).toFixed(1), Math.max(...times).toFixed(1)]
  return `## Stopped in the middle of runs

\`bun run drill stop\`, ${stampOf(build)}

${stops.length} times SIGTERM, with a grace of ${graceMs / 1000} s, while ${workers} clients run
models one after the other (plain and streamed, up to 300 ms each) and ${endless} read streams that
never end. Each run that was paid whole is in the hands of its client; each stream that goes on is
told of the end in band; the process ends with 0, nothing is held, no run is left open, and the
balance is the grant less the cost of every run.

**${faults.length} faults.**${faults.map((fault) => `\n- ${fault}`).join('')}

- ${answered} short runs were answered; the process ended ${least} to ${most} s after SIGTERM
`
}
