import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { usageOf } from '../bench/processes.ts'
import { makeHome, must, type Server } from '../test/support/binary.ts'
import { crowdAt, type Seen } from './demo-visitor.ts'
import { headOf } from './report.ts'

export type DemoWish = { visitors: number; minutes: number; resets: number; pauseMs: number }

export type DemoResult = DemoWish & {
  seen: Seen
  /** Resident memory in MiB after each part of the time, and the most in between. */
  memory: number[]
  mostMemory: number
  /** The most that the temporary folder held, in MiB, and what it held in the end, in bytes. */
  mostDisk: number
  left: number
  /** Seconds from a SIGHUP to the new data. */
  resetSeconds: number[]
  faults: string[]
  build: string
}

const mib = 1024 * 1024
/** Above these, memory or disk are not bounded as docs/demo.md says, in MiB. */
const mostMemoryMib = 1024
const mostDiskMib = 1200

/** Visitors of the executable's demonstration, which is reset under them. */
export async function drillDemo(
  wish: DemoWish,
  say: (line: string) => void = () => {},
): Promise<DemoResult> {
  await using home = await makeHome('trusted_proxies = ["127.0.0.1"]')
  const folder = join(home.folder, 'tmp')
  mkdirSync(folder)
  const faults: string[] = []
  const build = await must(home, 'version', '--json')
  const args = ['--demo']
  const server = await home.start({ args, env: { TMPDIR: folder }, withinMs: 120_000 })
  const watched = watch(server.pid, folder)
  const planned = performance.now() + wish.minutes * 60_000
  let end = Number.POSITIVE_INFINITY
  const isOver = () => performance.now() > end
  const crowd = crowdAt(server.origin, { ...wish, isOver })
  const memory: number[] = []
  const resetSeconds: number[] = []
  for (let i = 0; i < wish.resets; i++) {
    await Bun.sleep((wish.minutes * 60_000) / (wish.resets + 1))
    memory.push(watched.memory())
    const took = await resetOf(server, folder)
    resetSeconds.push(took)
    say(`reset ${i + 1} after ${took.toFixed(1)} s, ${memory.at(-1)?.toFixed(0)} MiB`)
  }
  // Also after the last reset there are visitors.
  end = Math.max(planned, performance.now() + 8000)
  const seen = await crowd
  memory.push(watched.memory())
  const { mostMemory, mostDisk } = watched.stop()
  await server.stop()
  const left = bytesIn(folder)
  faults.push(...seen.faults)
  if (seen.resets < wish.visitors * wish.resets * 0.9) faults.push(`${seen.resets} met a reset`)
  if (mostMemory > mostMemoryMib) faults.push(`${mostMemory.toFixed(0)} MiB of memory`)
  if (mostDisk > mostDiskMib) faults.push(`${mostDisk.toFixed(0)} MiB of disk`)
  if (left > 0) faults.push(`${left} bytes are left behind`)
  return { ...wish, seen, memory, mostMemory, mostDisk, left, resetSeconds, faults, build }
}

/** Resets by a signal, and waits until the data of before are deleted. Returns the seconds. */
async function resetOf(server: Server, folder: string): Promise<number> {
  const before = generations(folder)
  const begun = performance.now()
  server.signal('SIGHUP')
  const isDone = () => {
    const now = generations(folder)
    return now.length === 1 && now[0] !== before.at(-1)
  }
  while (!isDone()) {
    if (performance.now() > begun + 180_000) throw new Error('the demo is not reset')
    await Bun.sleep(100)
  }
  return (performance.now() - begun) / 1000
}

/** The folders of the demonstration, beside files of the runtime itself. */
const foldersIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith('counterfoil-demo-'))
    .map((name) => join(folder, name))

const generations = (folder: string): string[] =>
  foldersIn(folder).flatMap((one) => readdirSync(one).filter((name) => /^\d+$/.test(name)))

/** Samples memory and disk twice a second. */
function watch(pid: number, folder: string) {
  let mostMemory = 0
  let mostDisk = 0
  const memory = (): number => usageOf(pid).rssMiB
  const timer = setInterval(() => {
    mostMemory = Math.max(mostMemory, memory())
    mostDisk = Math.max(mostDisk, bytesIn(folder) / mib)
  }, 500)
  return {
    memory,
    stop() {
      clearInterval(timer)
      return { mostMemory, mostDisk }
    },
  }
}

function bytesIn(folder: string): number {
  let sum = 0
  for (const one of foldersIn(folder)) {
    for (const name of existsSync(one) ? readdirSync(one, { recursive: true }) : []) {
      // Files come and go while they are counted.
      const found = statSync(join(one, String(name)), { throwIfNoEntry: false })
      if (found?.isFile()) sum += found.size
    }
  }
  return sum
}

export function demoReport(result: DemoResult): string {
  const { seen, memory, mostMemory, mostDisk, resetSeconds, faults, build } = result
  const first = [...new Set(faults)].slice(0, 5).map((fault) => `- ${fault}\n`)
  const seconds = resetSeconds.map((one) => one.toFixed(1)).join(', ')
  const kept = memory.map((one) => one.toFixed(0)).join(', ')
  return `${headOf('Visitors of the demo', 'demo', build)}

${result.visitors} visitors of \`serve --demo\` for ${result.minutes} minutes, each from an address
of its own: they sign in without a wallet, look at pages, make a key, run models whole and streamed,
and ask for things of other visitors. Meanwhile SIGHUP resets the demo ${result.resets} times. No
visitor may meet an error, half a page or a thing of another; a session and a key that a reset took
must be told so.

**${faults.length} faults.**

${first.join('')}
- ${seen.pages} pages, ${seen.runs} runs, ${seen.failed} more that their model failed on purpose,
  ${seen.limited} answers 429
- ${seen.resets} sessions or keys ended by a reset; ${seen.probes} times 404 for things of others
- the slowest answer took ${(seen.slowestMs / 1000).toFixed(1)} s, streams included
- from SIGHUP until the data of before are deleted: ${seconds} s
- memory before each reset and at the end: ${kept} MiB; ${mostMemory.toFixed(0)} MiB at most
- disk: ${mostDisk.toFixed(0)} MiB at most, of two sets of data; ${result.left} bytes after the stop
`
}
