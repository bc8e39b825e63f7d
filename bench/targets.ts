import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { freePort } from '../test/support/free-port.ts'
import { binary, environment } from './environment.ts'
import type { Target } from './load.ts'
import { type Started, start } from './processes.ts'
import type { Row } from './table.ts'

/** What the stub is asked to do in the measurements; the gateway sells each as a model. */
export const behaviours = ['t16', 't500-i10', 't300-i20'] as const

export type Running = Target & { pid: number; process: Started; program?: string | undefined }

/** The gateway that is measured, and the older one that `--before` names. */
export type Gateways = { gateway: Running; before?: Running | undefined }

/** Both gateways, in the order of their turns. */
export const all = ({ gateway, before }: Gateways): Running[] =>
  before ? [before, gateway] : [gateway]

/** A quantity of both gateways, as a row of the table has it. */
export const both = (
  { gateway, before }: Gateways,
  value: (gateway: Running) => number | string,
): Pick<Row, 'measured' | 'before'> => ({
  measured: value(gateway),
  before: before && value(before),
})

const anyOrigin = /http:\/\/[\w.]+:\d+/
// Bun's fetch holds back the 257th request otherwise; it takes no more than two bytes can say.
export const manyRequests = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' }
export const toStub = (behaviour: string) => `stub-${behaviour}`

export async function startStub(): Promise<Running> {
  const command = [process.execPath, resolve('bench/upstream.ts')]
  const started = await start({ command, ready: anyOrigin })
  return running('direct', started, originIn(started), toStub, {})
}

export async function startProxy(stub: Target): Promise<Running> {
  const command = [process.execPath, resolve('bench/proxy.ts'), stub.origin]
  const started = await start({ command, env: manyRequests, ready: anyOrigin })
  return running('pass-through', started, originIn(started), toStub, {})
}

/** What Elysia answers a greeting with: the least that a route of it costs. */
export async function startHello(): Promise<Running> {
  const command = [process.execPath, resolve('bench/hello.ts')]
  const started = await start({ command, ready: anyOrigin })
  return running('hello', started, originIn(started), toStub, {})
}

export type Place = {
  name?: string
  /** Where its configuration lies. */
  folder: string
  /** Where its database lies; a folder below that one when absent. */
  data?: string
  env?: Record<string, string>
  /** The build that runs; the current one when absent. */
  program?: string | undefined
  /** Settings beside the usual ones, as tables. */
  more?: string
}

/** The compiled binary, with a ready key of the test account. */
export async function startCounterfoil(stub: Target, place: Place): Promise<Running> {
  const {
    folder,
    env = {},
    name = 'counterfoil',
    data = `${folder}/data`,
    program,
    more = '',
  } = place
  await mkdir(folder, { recursive: true })
  // Builds of before know no kinds.
  const spoken = program === undefined ? kinds : (['openai'] as const)
  await Bun.write(`${folder}/counterfoil.toml`, configurationFor(stub, spoken) + more)
  const port = freePort()
  const started = await start({
    command: [...serveCommand(data, port, program), '--dev'],
    folder,
    env,
    ready: /COUNTERFOIL_KEY=sk-service-\w+\s/,
  })
  const origin = `http://127.0.0.1:${port}`
  await answers(`${origin}/readyz`)
  const key = /COUNTERFOIL_KEY=(\S+)/.exec(started.output)?.[1]
  const headers = { authorization: `Bearer ${key}` }
  return { ...running(name, started, origin, (model) => `bench/${model}`, headers), program }
}

/** The account that `--dev` funds. */
export const benchAccount = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/** Milliseconds from starting the binary to its first good answer. */
export async function measureStart({ folder, env = {} }: Place): Promise<number> {
  const data = `${folder}/data`
  await mkdir(data, { recursive: true, mode: 0o700 })
  const port = freePort()
  const begin = performance.now()
  const child = Bun.spawn(serveCommand(data, port), {
    cwd: folder,
    env: environment(env),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await answers(`http://127.0.0.1:${port}/v1/status`)
  const ms = performance.now() - begin
  // At once: a server that is asked to stop ends what it began, such as an audit of everything.
  child.kill('SIGKILL')
  await child.exited
  return ms
}

/** The binary on a data folder. */
export const serveCommand = (data: string, port: number, program = binary()): string[] => [
  program,
  'serve',
  '--listen',
  `127.0.0.1:${port}`,
  '--data',
  data,
]

/** Kinds of model servers; the stub is one of each. */
export const kinds = ['openai', 'anthropic', 'responses'] as const
export type Kind = (typeof kinds)[number]

/** The name of a model behind a server of a kind. */
export const modelOf = (kind: Kind, behaviour: string): string =>
  kind === 'openai' ? `bench/${behaviour}` : `bench/${kind}-${behaviour}`

/** Priced models for every behaviour and kind, and limits that nothing here runs into. */
function configurationFor(stub: Target, spoken: readonly Kind[]): string {
  const wired = spoken.flatMap((kind) => behaviours.map((behaviour) => ({ kind, behaviour })))
  const models = wired.map(
    ({ kind, behaviour }) => `
[[models]]
id = "${modelOf(kind, behaviour)}"
route = ["${kind}:stub-${behaviour}"]
kind = "chat"
context_tokens = 100_000
max_output_tokens = 1_000
input_pusd = 1_000
output_pusd = 1_000
`,
  )
  return `[limits]
rpm = 10_000_000
concurrency = 100_000
admission = 100_000
keyless_per_minute = 10_000_000

[log]
level = "warn"

[[plans]]
id = "free"
limits = { rpm = 10_000_000, concurrency = 100_000 }

${spoken.map((kind) => upstreamFor(kind, stub)).join('')}
${models.join('')}`
}

const upstreamFor = (kind: Kind, { origin }: Target): string => `
[[upstreams]]
id = "${kind}"
base_url = "${origin}/v1"
${kind === 'openai' ? '' : `kind = "${kind}"\n`}`

export function running(
  name: string,
  started: Started,
  origin: string,
  model: Target['model'],
  headers: Target['headers'],
): Running {
  return { name, origin, model, headers, pid: started.pid, process: started }
}

const originIn = (started: Started): string => anyOrigin.exec(started.output)?.[0] ?? ''

/** Waits for a good answer, 20 s at most. */
export async function answers(url: string): Promise<void> {
  const until = performance.now() + 20_000
  while (performance.now() < until) {
    try {
      if ((await fetch(url)).ok) return
    } catch {
      // No one listens yet.
    }
    await Bun.sleep(1)
  }
  throw new Error(`${url} does not answer`)
}
