import { readdirSync, readFileSync } from 'node:fs'
import { environment } from './environment.ts'

/**
 * What a process has used: exact CPU time of all its threads, memory now and at most, what it wrote
 * to disks, and what it passed to calls that write, which counts on every file system.
 */
export type ProcessUsage = {
  cpuUs: number
  rssMiB: number
  /** What it has of its own: neither the program nor files that it maps. */
  anonMiB: number
  peakMiB: number
  diskBytes: number
  passedBytes: number
}

export function usageOf(pid: number): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (name: string) => numberIn(status, name) / 1024
  const io = readFileSync(`/proc/${pid}/io`, 'utf8')
  return {
    cpuUs: cpuUsOf(pid),
    rssMiB: mebibytes('VmRSS'),
    anonMiB: mebibytes('RssAnon'),
    peakMiB: mebibytes('VmHWM'),
    diskBytes: numberIn(io, 'write_bytes'),
    passedBytes: numberIn(io, 'wchar'),
  }
}

/** The most that it has of its own while `work` runs, by ten looks a second. */
export async function anonPeakOf<T>(pid: number, work: Promise<T>): Promise<number> {
  let most = 0
  const look = () => {
    most = Math.max(most, usageOf(pid).anonMiB)
  }
  const timer = setInterval(look, 100)
  try {
    await work
    look()
  } finally {
    clearInterval(timer)
  }
  return most
}

const numberIn = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)

/** CPU time of all threads of a process, of another user too. */
export function cpuUsOf(pid: number): number {
  let ns = 0
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // The thread ended between the listing and the reading.
    }
  }
  return ns / 1000
}

export type Started = { pid: number; output: string; stop(): Promise<void> }

export type Command = {
  command: string[]
  folder?: string
  env?: Record<string, string>
  /** The process is up once its stdout and stderr together match this. */
  ready: RegExp
}

const running = new Set<() => void>()
process.on('exit', () => {
  for (const kill of running) kill()
})
// Anyone who stops the measurement stops what it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** Starts a process and waits for it to be up, 20 s at most. */
export async function start({ command, folder = '.', env = {}, ready }: Command): Promise<Started> {
  const child = Bun.spawn(command, {
    cwd: folder,
    env: environment(env),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const kill = () => child.kill('SIGKILL')
  running.add(kill)
  let output = ''
  const { promise: up, resolve, reject } = Promise.withResolvers<void>()
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const bytes of stream) {
      const text = Buffer.from(bytes).toString()
      // Enough to find what is waited for; a talkative server must not fill our memory.
      if (output.length < 100_000) output += text
      if (ready.test(output)) resolve()
    }
  }
  void collect(child.stdout)
  void collect(child.stderr)
  const say = (what: string) => reject(new Error(`${command.join(' ')} ${what}:\n${output}`))
  void child.exited.then(() => say('ended'))
  const timer = setTimeout(() => say('did not come up'), 20_000)
  try {
    await up
  } finally {
    clearTimeout(timer)
  }
  return {
    pid: child.pid,
    output,
    async stop() {
      child.kill('SIGTERM')
      const late = setTimeout(kill, 5000)
      await child.exited
      clearTimeout(late)
      running.delete(kill)
    },
  }
}

/** Runs a command to its end. @throws with what it wrote when it fails. */
export async function run(command: string[], folder = '.'): Promise<void> {
  const child = Bun.spawn(command, { cwd: folder, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const output = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}:\n${output.join('')}`)
}
