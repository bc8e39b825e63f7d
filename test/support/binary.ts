import { expect } from 'bun:test'
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { makeSecret } from '../../src/access/keys/secret.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import { type Call, callAt } from './call.ts'

/** The executable that `bun run build` makes; scripts/test.sh says when it is missing. */
export const binary = resolve('dist/counterfoil')
export const noBinary = !existsSync(binary)

/** A folder of its own for one service: configuration, data and what was printed. */
export type Home = {
  folder: string
  data: string
  /** What every server started here wrote, in one file each. */
  printed: { stdout: string; stderr: string }
  configure(toml: string): void
  /** Runs a command to its end, as an operator beside the server would. */
  cli(...args: string[]): Promise<Done>
  start(options?: StartOptions): Promise<Server>
  /** Starts a server and kills it `afterMs` later, or after that happened, wherever it is then. */
  killStarting(after: number | Promise<unknown>, options?: StartOptions): Promise<void>
  remove(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type Done = { code: number; stdout: string; stderr: string }

export type StartOptions = {
  args?: string[]
  env?: Record<string, string>
  /** Where it listens, for a server whose public name is another; else a free port. */
  port?: number
  /** How long it may take to be ready, in ms. */
  withinMs?: number
  /** The probe that says it started; `/livez` for a server that is not to take traffic. */
  probe?: '/readyz' | '/livez'
  /** Does not wait until it serves: it waits itself, for its database. Needs a port. */
  isWaiting?: boolean
  /** Another command, which becomes the server; its last words are the server's. */
  under?: string[]
  /** The file of its log; that of the home when absent. */
  stderr?: string
}

/** A server that answered `/readyz`. */
export type Server = {
  origin: string
  port: number
  pid: number
  /** From the start of the process to the first good answer, in ms. */
  readyMs: number
  call: Call
  /** The JSON of an answer of any status. */
  get(path: string, key?: string): ReturnType<Response['json']>
  /** Sends a signal to this process alone and waits for its end; undefined when it was killed. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  signal(signal: NodeJS.Signals): void
  exited: Promise<number | null>
}

/** How long a server may take to answer on a busy machine, in ms. */
const readyWithinMs = 20_000

/** An empty folder in which the binary is started; a free port is chosen at each start. */
export async function makeHome(toml = ''): Promise<Home> {
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-binary-'))
  const printedIn = await mkdtemp(join(tmpdir(), 'counterfoil-printed-'))
  const printed = { stdout: join(printedIn, 'stdout'), stderr: join(printedIn, 'stderr') }
  const running = new Set<Server>()
  const home: Home = {
    folder,
    data: join(folder, 'data'),
    printed,
    configure: (text) =>
      writeFileSync(join(folder, 'counterfoil.toml'), `listen = "127.0.0.1:0"\n${text}`),
    cli: (...args) => finish([binary, ...args], folder),
    async start(options) {
      const server = await startBinary(home, options)
      running.add(server)
      void server.exited.then(() => running.delete(server))
      return server
    },
    async killStarting(after, options = {}) {
      const child = spawnBinary(home, serveWords(options), options)
      await (typeof after === 'number' ? Bun.sleep(after) : after)
      child.kill('SIGKILL')
      await child.exited
    },
    async remove() {
      await Promise.all([...running].map((server) => server.stop('SIGKILL')))
      await rm(folder, { recursive: true, force: true })
      await rm(printedIn, { recursive: true, force: true })
    },
    [Symbol.asyncDispose]: () => home.remove(),
  }
  home.configure(toml)
  return home
}

/** The environment of the binary, without any of the tester's own variables. */
const cleanEnv = (home: string) => ({ PATH: process.env['PATH'] ?? '', HOME: home })

/** Runs the binary in a folder and waits for its end. */
export function run(
  folder: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Done> {
  return finish([binary, ...args], folder, env)
}

async function finish(
  command: string[],
  folder: string,
  env: Record<string, string> = {},
): Promise<Done> {
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { ...cleanEnv(folder), ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, stdout, stderr }
}

/** An ordinary user of every system; root may read and write whatever the mode says. */
const ordinaryUser = 65534

/** What goes before a command so that permissions hold for it; undefined where that takes `setpriv`. */
export const asOrdinaryUser: string[] | undefined =
  process.getuid?.() !== 0
    ? []
    : Bun.which('setpriv')
      ? ['setpriv', `--reuid=${ordinaryUser}`, `--regid=${ordinaryUser}`, '--clear-groups', '--']
      : undefined

/** Runs the binary in a folder as a user that is not root, and waits for its end. */
export function runOrdinary(folder: string, args: string[]): Promise<Done> {
  return finish([...(asOrdinaryUser ?? []), binary, ...args], folder)
}

const serveWords = ({ args = [], port }: StartOptions): string[] => [
  'serve',
  ...(port === undefined ? [] : ['--listen', `127.0.0.1:${port}`]),
  ...args,
]

/** Starts a command of the binary, which may be the last words of another one. */
export function spawnBinary(
  { folder, printed }: Pick<Home, 'folder' | 'printed'>,
  words: string[],
  { env = {}, under = [], stderr = printed.stderr }: StartOptions = {},
): Bun.Subprocess {
  const files = [printed.stdout, stderr].map((file) => openSync(file, 'a'))
  const child = Bun.spawn([...under, binary, ...words], {
    cwd: folder,
    env: { ...cleanEnv(folder), ...env },
    stdio: ['ignore', files[0], files[1]],
  })
  for (const file of files) closeSync(file)
  return child
}

async function startBinary(home: Home, options: StartOptions = {}): Promise<Server> {
  const printed = () => (existsSync(home.printed.stderr) ? readFileSync(home.printed.stderr) : '')
  const before = printed().length
  const startedAt = performance.now()
  const child = spawnBinary(home, serveWords(options), options)
  const said = () => printed().slice(before).toString()
  const exited = child.exited.then(() => child.exitCode)
  const local = options.port === undefined ? undefined : `http://127.0.0.1:${options.port}`
  const waited = { startedAt, withinMs: options.withinMs ?? readyWithinMs }
  const origin = await untilReady(child, said, { ...options, ...waited }, local)
  return {
    origin,
    port: Number(new URL(origin).port),
    pid: child.pid,
    readyMs: performance.now() - startedAt,
    call: (path, init = {}) => callAt(origin, path, init),
    get: async (path, key) => (await callAt(origin, path, key ? { key } : {})).json(),
    signal: (signal) => process.kill(child.pid, signal),
    stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) process.kill(child.pid, signal)
      return exited
    },
    exited,
  }
}

type Waited = { startedAt: number; withinMs: number } & Pick<StartOptions, 'probe' | 'isWaiting'>

async function untilReady(
  child: Bun.Subprocess,
  said: () => string,
  { startedAt, withinMs, probe = '/readyz', isWaiting = false }: Waited,
  local: string | undefined,
): Promise<string> {
  let origin: string | undefined
  while (performance.now() - startedAt < withinMs) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}:\n${said()}`)
    const named = /counterfoil listens on (\S+);/.exec(said())?.[1]
    origin ??= isWaiting ? local : named && (local ?? named)
    if (origin && (await isOk(origin + probe))) return origin
    await Bun.sleep(2)
  }
  child.kill('SIGKILL')
  throw new Error(`not ready in time:\n${said()}`)
}

async function isOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}

/** What `key create --json` prints. */
export type MadeKey = {
  id: string
  secret: string
  fingerprint: string
  account: string
  cap: { limit_nusd: number; window: string }
  expires_at: string
}

/** The first well-known test account. */
export const someAccount = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** An account that nothing knows yet. */
export const randomAccount = (): string =>
  `0x${Buffer.from(systemRandom().bytes(20)).toString('hex')}`

/** Makes a key by the command line. @throws Error with what it said when it failed. */
export async function makeKey(
  home: Home,
  { account = someAccount, cap = '1000.00' } = {},
  ...more: string[]
): Promise<MadeKey> {
  await withDatabase(home)
  const args = ['key', 'create', '--account', account, '--cap', cap, '--json', ...more]
  return JSON.parse(await must(home, ...args))
}

/** Right form and checksum, but no server's. */
export const unknownSecret = makeSecret(systemRandom())

/** Credits an account by the command line. */
export async function grant(home: Home, usd: string, account = someAccount): Promise<void> {
  await withDatabase(home)
  await must(home, 'grant', account, usd, '--reason', 'test')
}

/** Credits the usual account. @returns the secret of a key of it. */
export async function fund(home: Home, usd: string): Promise<string> {
  await grant(home, usd)
  return (await makeKey(home)).secret
}

/** Makes the database where there is none yet, as an operator does before the first start. */
export async function withDatabase(home: Home): Promise<void> {
  if (!existsSync(join(home.data, 'counterfoil.db'))) await must(home, 'migrate')
}

/** Runs a command that has to succeed and returns its stdout. */
export async function must(home: Home, ...args: string[]): Promise<string> {
  const done = await home.cli(...args)
  if (done.code !== 0) throw new Error(`${args.join(' ')} ended with ${done.code}: ${done.stderr}`)
  return done.stdout
}

/** Checks an answer against the one error shape; it must name its own request id. */
export async function expectRefusal(answer: Response, status: number, type: string) {
  const { error } = (await answer.json()) as { error: Record<string, unknown> }
  expect({ status: answer.status, ...error }).toMatchObject({
    status,
    type,
    code: type,
    message: expect.any(String),
    request_id: answer.headers.get('x-request-id'),
  })
  expect(error).toHaveProperty('param')
  expect(error['request_id']).toMatch(/^req_[0-9a-z]{26}$/)
  expect(answer.headers.get('content-type')).toStartWith('application/json')
}
