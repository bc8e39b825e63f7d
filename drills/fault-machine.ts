/** The machine around a server: its file descriptors, its time, its turn to run. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Server } from '../test/support/binary.ts'
import { untilFree } from '../test/support/judges.ts'
import { type Asked, ask, askAll } from './asked.ts'
import { type Bench, startOn, startUnder } from './fault-bench.ts'
import {
  countOf,
  judgeAnew,
  judgeKilled,
  judgeStopped,
  type Row,
  skippedRow,
} from './fault-tools.ts'

const fewDescriptors = 64

/** More connections than the process may have descriptors; afterwards they go. */
export async function noDescriptors(bench: Bench): Promise<Row> {
  const faults: string[] = []
  const script = `ulimit -n ${fewDescriptors}; exec "$@"`
  const server = await startUnder(bench, ['sh', '-c', script, 'sh'])
  const idle = await Promise.all(
    Array.from({ length: 2 * fewDescriptors }, () =>
      Bun.connect({ hostname: '127.0.0.1', port: server.port, socket: { data() {} } }),
    ),
  )
  const asking = askAll(bench, server, { clients: 8, each: 1 })
  await Bun.sleep(3000)
  for (const socket of idle) socket.end()
  const asked = await asking
  const after = await askAll(bench, server, { clients: 4, each: 3 })
  if (after.some(({ paid }) => !paid)) faults.push(`afterwards: ${countOf(after)}`)
  faults.push(...(await judgeKilled(bench, server)))
  const expected = 'an answer or a 5xx for each, and it recovers when they go'
  const seen = `${idle.length} idle connections: ${countOf(asked)}; then ${countOf(after)}`
  return { fault: `\`ulimit -n ${fewDescriptors}\``, expected, seen, faults }
}

/** The process sleeps with runs in flight, and goes on. */
export async function stopped(bench: Bench, seconds: number): Promise<Row> {
  const server = await startOn(bench)
  const asked = await sleep(bench, server, { seconds, streams: true })
  const faults = asked.some(({ paid }) => !paid) ? [countOf(asked)] : []
  faults.push(...(await judgeStopped(bench, server)))
  const expected = 'what was in flight ends once'
  return { fault: `SIGSTOP for ${seconds} s`, expected, seen: countOf(asked), faults }
}

/** It sleeps for longer than its clients wait, and than it waits for an upstream. */
export async function stoppedLong(bench: Bench, seconds: number): Promise<Row> {
  const server = await startOn(bench)
  const asked = await sleep(bench, server, { seconds, streams: false })
  const wokeAt = performance.now()
  // All its timers are over, so it may leave the upstream alone for a while.
  let again = await ask(bench, server)
  while (!again.paid && performance.now() - wokeAt < 60_000) {
    await Bun.sleep(2000)
    again = await ask(bench, server)
  }
  const restedS = ((performance.now() - wokeAt) / 1000).toFixed(0)
  const faults = again.paid ? [] : [`it did not recover: ${countOf([again])}`]
  faults.push(...(await judgeStopped(bench, server)))
  const expected =
    'clients are gone or told of the timeout, once; asked again, each is charged once'
  const seen = `${countOf(asked)}; runs again after ${restedS} s`
  return { fault: `SIGSTOP for ${seconds} s`, expected, seen, faults }
}

type Sleep = { seconds: number; streams: boolean }

async function sleep(bench: Bench, server: Server, { seconds, streams }: Sleep) {
  const model = 'stub/pace-300'
  const asking = askAll(bench, server, { clients: 8, each: 2, model, streams })
  await Bun.sleep(450)
  server.signal('SIGSTOP')
  await Bun.sleep(seconds * 1000)
  server.signal('SIGCONT')
  const asked = await asking
  // Runs whose clients are gone go on for a moment.
  await untilFree(server, bench.secret)
  return asked
}

const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
const hourMs = 3_600_000

/** The clock of the wall jumps an hour ahead and back under runs; the monotonic one goes on. */
export async function clockJumps(bench: Bench): Promise<Row> {
  const fault = 'the clock jumps by +1 h and −1 h'
  const expected = 'runs, receipts and the log go on; nothing expires by the jump alone'
  if (!existsSync(library)) return skippedRow(fault, expected, 'libfaketime is not installed')
  const faults: string[] = []
  const file = join(bench.home.folder, 'clock')
  writeFileSync(file, '+0\n')
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  const server = await startUnder(bench, ['env'], { env })
  const seen: string[] = []
  for (const [offset, jumpMs] of [
    ['+1h', hourMs],
    ['-1h', -hourMs],
    ['+0', 0],
  ] as const) {
    const asking = askAll(bench, server, { clients: 4, each: 3, model: 'stub/pace-300' })
    await Bun.sleep(400)
    writeFileSync(file, `${offset}\n`)
    const asked = await asking
    const late = await askAll(bench, server, { clients: 2, each: 3 })
    const shift = await shiftOf(bench, server, late)
    if (Math.abs(shift - jumpMs) > 60_000) {
      await server.stop('SIGKILL')
      const why = `the process does not see the time of libfaketime (${shift} ms)`
      return { ...skippedRow(fault, expected, why), faults: await judgeAnew(bench) }
    }
    if ([...asked, ...late].some(({ paid }) => !paid)) faults.push(countOf([...asked, ...late]))
    seen.push(`${offset}: ${countOf([...asked, ...late])}`)
  }
  const ended = await server.stop('SIGTERM')
  if (ended !== 0) faults.push(`SIGTERM ended with ${ended}`)
  faults.push(...(await judgeAnew(bench)))
  return { fault, expected, seen: seen.join('; '), faults }
}

/** How far the clock of the process is from ours, in ms, by a run of just now. */
async function shiftOf({ secret }: Bench, server: Server, asked: Asked[]): Promise<number> {
  const id = asked.at(-1)?.paid?.runId
  const { created_at: at } = await server.get(`/v1/runs/${id}`, secret)
  return Math.round(Date.parse(at) - Date.now())
}
