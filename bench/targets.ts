import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Target } from './load.ts'
import { run, type Started, start } from './processes.ts'

/** What the stub is asked to do in the measurements; the gateway sells each as a model. */
export const behaviours = ['t16', 't500-i10', 't60-i100', 't150-i20'] as const

export type Running = Target & { pid: number; process: Started }

const anyOrigin = /http:\/\/[\w.]+:\d+/
// Bun's fetch holds back the 257th request otherwise.
const manyRequests = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65536' }
const toStub = (behaviour: string) => `stub-${behaviour}`

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

/** The compiled binary in an empty folder, with a ready key of the test account. */
export async function startCounterfoil(stub: Target, folder: string): Promise<Running> {
  await mkdir(folder, { recursive: true })
  await Bun.write(`${folder}/counterfoil.toml`, configurationFor(stub))
  const port = freePort()
  const started = await start({
    command: [...serveCommand(folder, port), '--dev'],
    folder,
    ready: /COUNTERFOIL_KEY=sk-service-\w+\s/,
  })
  const origin = `http://127.0.0.1:${port}`
  await answers(`${origin}/readyz`)
  const key = /COUNTERFOIL_KEY=(\S+)/.exec(started.output)?.[1]
  return running('counterfoil', started, origin, (behaviour) => `bench/${behaviour}`, {
    authorization: `Bearer ${key}`,
  })
}

/** The Portkey gateway on Node, from npm. Unpinned, its peers answer every stream with 500. */
export async function startPortkey(stub: Target, folder: string): Promise<Running> {
  await mkdir(folder, { recursive: true })
  const manifest = {
    private: true,
    dependencies: { '@portkey-ai/gateway': '1.15.2' },
    overrides: { hono: '4.9.7', '@hono/node-server': '1.13.5' },
  }
  await Bun.write(`${folder}/package.json`, JSON.stringify(manifest))
  await run(['npm', 'install', '--silent', '--no-audit', '--no-fund'], folder)
  const port = freePort()
  const server = 'node_modules/@portkey-ai/gateway/build/start-server.js'
  const command = ['node', server, '--headless', `--port=${port}`]
  const started = await start({ command, folder, ready: /running|ready|listening|http:/i })
  const origin = `http://127.0.0.1:${port}`
  await answers(origin)
  return running('portkey', started, origin, toStub, {
    authorization: 'Bearer none',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${stub.origin}/v1`,
  })
}

/** Milliseconds from starting the binary on an empty folder to its first answer. */
export async function measureStart(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true })
  const port = freePort()
  const begin = performance.now()
  const child = Bun.spawn(serveCommand(folder, port), {
    cwd: folder,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await answers(`http://127.0.0.1:${port}/v1/status`)
  const ms = performance.now() - begin
  child.kill('SIGTERM')
  await child.exited
  return ms
}

const serveCommand = (folder: string, port: number) => [
  resolve('dist/counterfoil'),
  'serve',
  '--listen',
  `127.0.0.1:${port}`,
  '--data',
  `${folder}/data`,
]

/** Priced models for every behaviour, and limits that nothing here runs into. */
function configurationFor(stub: Target): string {
  const models = behaviours.map(
    (behaviour) => `
[[models]]
id = "bench/${behaviour}"
route = ["stub:stub-${behaviour}"]
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

[[upstreams]]
id = "stub"
base_url = "${stub.origin}/v1"
${models.join('')}`
}

function running(
  name: string,
  started: Started,
  origin: string,
  model: Target['model'],
  headers: Target['headers'],
): Running {
  return { name, origin, model, headers, pid: started.pid, process: started }
}

const originIn = (started: Started): string => anyOrigin.exec(started.output)?.[0] ?? ''

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  listener.stop()
  return listener.port
}

/** Waits for any answer, 20 s at most. */
async function answers(url: string): Promise<void> {
  const until = performance.now() + 20_000
  while (performance.now() < until) {
    try {
      await fetch(url)
      return
    } catch {
      await Bun.sleep(1)
    }
  }
  throw new Error(`${url} does not answer`)
}
