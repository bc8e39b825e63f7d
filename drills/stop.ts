/** Stops the binary with SIGTERM in the middle of short runs and of streams that never end. */
import { type Home, must } from '../test/support/binary.ts'
import { allRuns, claims } from '../test/support/judges.ts'
import { credit, makePacedService, roomy } from '../test/support/paced-service.ts'
import { faultList, headOf } from './report.ts'

export type Stop = {
  /** Short runs that clients hold whole answers of. */
  answered: number
  /** Streams that were told in band that the service stops. */
  told: number
  /** From SIGTERM to the end of the process, in ms. */
  tookMs: number
  faults: string[]
}

const workers = 24
const endless = 20
const graceMs = 3000
/** What the end may take after the grace: 5 s to settle, and the rest for a busy machine. */
const mostAfterMs = 15_000

/** All rounds stop one and the same service, so that a fault once made stays visible. */
export async function drillStop(rounds: number, say: (line: string) => void = () => {}) {
  const limits = roomy.replace('[limits]', `[limits]\nstop_grace_s = ${graceMs / 1000}`)
  await using service = await makePacedService(limits)
  const { home, secret: key } = service
  const held = new Set<string>()
  const stops: Stop[] = []
  for (let round = 1; round <= rounds; round++) {
    const stop = await stopOnce(home, key, held)
    stops.push(stop)
    say(`round ${round}: ${lineOf(stop)}`)
  }
  const faults = stops.flatMap(({ faults }, i) => faults.map((one) => `round ${i + 1}: ${one}`))
  return { stops, faults, build: await must(home, 'version', '--json') }
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

/** Whether each run that was paid whole is in a client's hands, and all is settled. */
async function settledFaults(home: Home, key: string, held: Set<string>): Promise<string[]> {
  const { faults, claim } = claims()
  const server = await home.start()
  const { ledger } = await server.get('/v1/status')
  claim(ledger === 'balanced', `the ledger is ${ledger}`)
  let costs = 0
  for (const { status, cost_nusd, receipt_id: receipt } of (await allRuns(server, key)).values()) {
    costs += cost_nusd
    claim(receipt !== null, `a run is ${status} without a receipt`)
    const isHeld = status !== 'succeeded' || receipt === null || held.has(receipt)
    claim(isHeld, `${receipt} was paid, and its client has no answer`)
    claim(status !== 'interrupted' && status !== 'in_progress', `a run is ${status}`)
  }
  const { balance_nusd: left, held_nusd } = await server.get('/v1/balance', key)
  claim(held_nusd === 0, `${held_nusd} nUSD are held`)
  claim(left === credit - costs, `${left} nUSD are left, ${costs} were spent`)
  await server.stop()
  return faults
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
  return `${headOf('Stopped in the middle of runs', 'stop', build)}

${stops.length} times SIGTERM, with a grace of ${graceMs / 1000} s, while ${workers} clients run
models one after the other (plain and streamed, up to 300 ms each) and ${endless} read streams that
never end. Each run that was paid whole is in the hands of its client; each stream that goes on is
told of the end in band; the process ends with 0, nothing is held, no run is left open, and the
balance is the grant less the cost of every run.

${faultList(faults)}

- ${answered} short runs were answered; the process ended ${least} to ${most} s after SIGTERM
`
}
