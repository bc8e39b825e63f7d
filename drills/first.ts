/** Measures the way from an empty folder and a provider's key to a receipt that verifies. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Home, makeHome, must, run, spawnBinary } from '../test/support/binary.ts'
import { callAt } from '../test/support/call.ts'
import { freePort } from '../test/support/free-port.ts'
import { startStubUpstream } from '../test/support/stub-upstream.ts'
import { faultList, headOf, rowOf, seconds } from './report.ts'

/** A way to a receipt, and the real time after each of its steps, in ms. */
export type FirstWay = { way: string; steps: { step: string; ms: number }[] }

/** Longest that a newcomer may wait, in ms. */
const mostMs = 60_000
const apiKey = 'gsk_of-a-newcomer'
const upstreamModel = 'llama-3.3-70b-versatile'
const model = `groq/${upstreamModel}`
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export async function drillFirst(say: (line: string) => void = () => {}) {
  await using provider = await startProvider()
  const ways: FirstWay[] = []
  const faults: string[] = []
  let build = ''
  for (const [way, walk] of [
    ['`serve --dev --provider groq`', tryOut],
    ['`serve`, `provider add groq`, `grant`, `key create`', forReal],
  ] as const) {
    await using home = await makeHome()
    build = await must(home, 'version', '--json')
    const steps: FirstWay['steps'] = []
    const begun = performance.now()
    const done = (step: string) => void steps.push({ step, ms: performance.now() - begun })
    try {
      await walk(home, provider.url, done)
      const total = steps.at(-1)?.ms ?? mostMs
      if (total >= mostMs) faults.push(`${way} took ${seconds(total)}`)
    } catch (error) {
      faults.push(`${way}: ${error}`)
    }
    ways.push({ way, steps })
    say(`${way}: ${steps.map(({ step, ms }) => `${step} ${seconds(ms)}`).join(', ')}`)
  }
  return { ways, faults, build }
}

type Done = (step: string) => void

/** Nothing is written: the key stands in the environment, and the models sell at cost. */
async function tryOut(home: Home, at: string, done: Done): Promise<void> {
  const port = freePort()
  const args = ['serve', '--dev', '--provider', 'groq', '--listen', `127.0.0.1:${port}`]
  // The stub stands in for the provider: key and address are its only settings.
  const env = { GROQ_API_KEY: apiKey, GROQ_BASE_URL: at }
  const child = spawnBinary(home, args, { env })
  try {
    await untilReady(port)
    done('ready')
    const secret = /COUNTERFOIL_KEY=(\S+)/.exec(readFileSync(home.printed.stdout, 'utf8'))?.[1]
    await receiptOf(home, { port, secret: secret ?? '' }, done)
  } finally {
    child.kill()
    await child.exited
  }
}

/** As for customers: a server, a provider with a markup in its file, credit and a key. */
async function forReal(home: Home, at: string, done: Done): Promise<void> {
  await using server = stopping(await home.start())
  done('ready')
  const words = ['provider', 'add', 'groq', '--at', at, '--markup', '10%', '--key-file', 'key']
  writeFileSync(join(home.folder, 'key'), `${apiKey}\n`, { mode: 0o600 })
  const added = await run(home.folder, words)
  if (added.code !== 0) throw new Error(added.stderr)
  done('provider added')
  await must(home, 'grant', wallet, '5.00', '--reason', 'first')
  const secret = await must(home, 'key', 'create', '--account', wallet, '--cap', '1.00')
  done('key made')
  await receiptOf(home, { port: server.port, secret: secret.trim() }, done)
}

const stopping = <T extends { stop(): Promise<unknown> }>(server: T) =>
  Object.assign(server, { [Symbol.asyncDispose]: async () => void (await server.stop()) })

type Caller = { port: number; secret: string }

/** Runs once the model is there, and checks the receipt without the server. */
async function receiptOf(home: Home, { port, secret: key }: Caller, done: Done): Promise<void> {
  const origin = `http://127.0.0.1:${port}`
  const messages = [{ role: 'user', content: 'Every run leaves a receipt.' }]
  let answer = await callAt(origin, '/v1/chat/completions', { key, json: { model, messages } })
  // A running server takes a moment to read its file again.
  for (let tries = 0; answer.status === 404 && tries < 100; tries++) {
    await Bun.sleep(50)
    answer = await callAt(origin, '/v1/chat/completions', { key, json: { model, messages } })
  }
  if (answer.status !== 200) throw new Error(`the run: ${answer.status} ${await answer.text()}`)
  const made = (await answer.json()) as { receipt: { id: string; cost_nusd: number } }
  if (made.receipt.cost_nusd <= 0) throw new Error('the run was free')
  done('answered')
  const file = join(home.folder, 'receipt.json')
  const signer = /signed by (0x\w{40})/.exec(readFileSync(home.printed.stderr, 'utf8'))?.[1] ?? ''
  let why = ''
  for (let tries = 0; tries < 100; tries++) {
    const receipt = await callAt(origin, `/v1/receipts/${made.receipt.id}`, { key })
    writeFileSync(file, await receipt.text())
    const verdict = await run(home.folder, ['verify', 'receipt.json', '--signer', signer])
    if (verdict.code === 0) return done('receipt verified')
    why = verdict.stderr + verdict.stdout
    await Bun.sleep(200)
  }
  throw new Error(`the receipt does not verify: ${why}`)
}

async function untilReady(port: number): Promise<void> {
  const until = performance.now() + mostMs
  while (performance.now() < until) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (answer?.status === 200) return
    await Bun.sleep(20)
  }
  throw new Error('it is not ready')
}

/** A provider with one model, whose price the data of this build has. */
const startProvider = () =>
  startStubUpstream({
    apiKey,
    handler: ({ path }, response) => {
      response.setHeader('content-type', 'application/json')
      if (path.endsWith('/models')) {
        const data = [{ id: upstreamModel, context_window: 131_072, max_completion_tokens: 32_768 }]
        response.end(JSON.stringify({ object: 'list', data }))
        return
      }
      const message = { role: 'assistant', content: 'It does.' }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      const usage = { prompt_tokens: 900, completion_tokens: 300, total_tokens: 1200 }
      const head = { id: 'chatcmpl-1', object: 'chat.completion', created: 1 }
      response.end(JSON.stringify({ ...head, model: upstreamModel, choices, usage }))
    },
  })

export function firstReport({ ways, faults, build }: Awaited<ReturnType<typeof drillFirst>>) {
  const rows = ways.flatMap(({ way, steps }) =>
    steps.map(({ step, ms }) => rowOf(way, step, seconds(ms))),
  )
  return `${headOf('From an empty folder to a first receipt', 'first', build)}

A stub stands in for the provider, so that the time is that of this program and its commands;
no price is typed. The receipt is checked by \`counterfoil verify\`, without the server.
At most ${mostMs / 1000} s.

${faultList(faults)}

| way | after | real time |
|---|---|---|
${rows.join('\n')}
`
}
