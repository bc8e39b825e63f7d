/**
 * What every fault is tried on: one service whose clients write down what they were told, and the
 * question afterwards whether it holds all of that, once.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import {
  binary,
  grant,
  type Home,
  makeHome,
  makeKey,
  type Server,
  type StartOptions,
} from '../test/support/binary.ts'
import { startPacedUpstream } from '../test/support/paced-upstream.ts'
import type { Asked } from './asked.ts'
import { startGate } from './fault-gate.ts'
import { drilledModels, roomy } from './load.ts'

export type Bench = Awaited<ReturnType<typeof makeBench>>

/** What the key's account was granted, in nano-USD. */
export const credit = 1_000_000_000_000

/**
 * A service with a funded key. It outlives its servers: a fault once made stays visible. Its data
 * folder is a file system of its own where `smallMiB` says how large.
 */
export async function makeBench({ smallMiB }: { smallMiB?: number } = {}) {
  const stub = await startPacedUpstream()
  const gate = await startGate()
  const home = await makeHome(`${drilledModels(stub.url)}\n${gate.toml}\n${roomy}`)
  if (smallMiB !== undefined) mountSmall(home.data, smallMiB)
  const { secret } = await makeKey(home, { cap: '1000.00' })
  await grant(home, '1000.00')
  const remove = async () => {
    if (smallMiB !== undefined) Bun.spawnSync(['umount', '-l', home.data])
    await home.remove()
    await stub.stop()
    await gate.stop()
  }
  return { home, gate, secret, asked: [] as Asked[], remove }
}

function mountSmall(folder: string, MiB: number): void {
  mkdirSync(folder)
  const options = `size=${MiB}m,mode=0700`
  const { exitCode, stderr } = Bun.spawnSync(
    ['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder],
    { stderr: 'pipe' },
  )
  if (exitCode !== 0) throw new Error(`no tmpfs: ${stderr}`)
}

/** Without the replacement of itself at the start: what attaches to it keeps its process. */
const oneProcess = { BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' }

export const startOn = ({ home }: Pick<Bench, 'home'>, options: StartOptions = {}) =>
  home.start({ ...options, env: { ...oneProcess, ...options.env } })

/** Starts the server as the last words of another command, which becomes it. */
export async function startUnder(
  { home }: Pick<Bench, 'home'>,
  wrap: string[],
  { env = {}, stderr }: { env?: Record<string, string>; stderr?: string } = {},
): Promise<Server> {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  const child = spawnUnder(home, wrap, ['serve', '--listen', `127.0.0.1:${port}`], { env, stderr })
  const origin = `http://127.0.0.1:${port}`
  const startedAt = performance.now()
  while (!(await isReady(origin))) {
    if (child.exitCode !== null) throw new Error(`${wrap[0]} ended with ${child.exitCode}`)
    if (performance.now() - startedAt > 20_000) {
      child.kill('SIGKILL')
      throw new Error(`the server under ${wrap[0]} is not ready`)
    }
    await Bun.sleep(20)
  }
  const exited = child.exited.then(() => child.exitCode)
  return {
    origin,
    port,
    pid: child.pid,
    readyMs: performance.now() - startedAt,
    call: (path, { key, json, ...rest } = {}) => {
      const headers = new Headers(rest.headers)
      if (key) headers.set('authorization', `Bearer ${key}`)
      if (json === undefined) return fetch(origin + path, { ...rest, headers })
      headers.set('content-type', 'application/json')
      return fetch(origin + path, { method: 'POST', ...rest, headers, body: JSON.stringify(json) })
    },
    signal: (signal) => process.kill(child.pid, signal),
    stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) process.kill(child.pid, signal)
      return exited
    },
    exited,
  }
}

/** A command of the executable as the last words of another one. */
export function spawnUnder(
  home: Home,
  wrap: string[],
  args: string[],
  {
    env = {},
    stderr = home.printed.stderr,
  }: { env?: Record<string, string>; stderr?: string } = {},
): Bun.Subprocess {
  const out = openSync(home.printed.stdout, 'a')
  const err = openSync(stderr, 'a')
  const child = Bun.spawn([...wrap, binary, ...args], {
    cwd: home.folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: home.folder, ...oneProcess, ...env },
    stdin: 'ignore',
    stdout: out,
    stderr: err,
  })
  closeSync(out)
  closeSync(err)
  return child
}

async function isReady(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/readyz`)).ok
  } catch {
    return false
  }
}
