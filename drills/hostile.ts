/** Hostile accounts without money beside one that pays: what they keep, and what it feels. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { usageOf } from '../bench/processes.ts'
import { grant, type Home, makeHome, makeKey, must, type Server } from '../test/support/binary.ts'
import { pacedModels, startPacedUpstream } from '../test/support/paced-upstream.ts'
import { headOf } from './report.ts'
import { timesOf } from './samples.ts'

export type HostileWish = {
  accounts: number
  minutes: number
  /** The budget of each account a day. */
  writes: number
  bytes: number
  say?: (line: string) => void
}

export type HostileResult = HostileWish & {
  /** Answers to the hostile accounts by status. */
  statuses: Map<number, number>
  /** MiB on disk before, half way and at the end. */
  disk: { before: number; half: number; end: number }
  /** Resident MiB before, and the most since. */
  memory: { before: number; most: number }
  /** Milliseconds of the paying account's requests, alone and beside the others. */
  alone: { median: number; p99: number }
  beside: { median: number; p99: number }
  paid: number
  faults: string[]
  build: string
}

const mib = 1024 * 1024
/** More than this an account without money must not make the service hold in memory, in MiB. */
const mostMemoryMib = 700
/** The paying account may wait this many times as long as alone, or so many ms more. */
const mostTimes = 10
const mostMoreMs = 1500
/** Between two runs of the paying account, in ms. */
const pauseMs = 15

const addressOf = (n: number): string => `0x${(n + 1).toString(16).padStart(40, 'd')}`

export async function drillHostile(wish: HostileWish): Promise<HostileResult> {
  const { accounts, minutes, writes, bytes, say = () => {} } = wish
  const upstream = await startPacedUpstream()
  const limits = `[limits]\nfree_writes_per_day = ${writes}\nfree_bytes_per_day = ${bytes}\n`
  const home = await makeHome(limits + pacedModels(upstream.url))
  try {
    const build = await must(home, 'version', '--json')
    await grant(home, '1000', addressOf(accounts))
    const payer = (await makeKey(home, { account: addressOf(accounts), cap: '1000' })).secret
    const keys: string[] = []
    for (let i = 0; i < accounts; i++) {
      keys.push((await makeKey(home, { account: addressOf(i), cap: '1' })).secret)
    }
    const server = await home.start()
    const watched = watch(home, server.pid)
    const before = { disk: watched.disk(), memory: watched.memory() }
    const alone = await paying(server, payer, Math.min(20_000, minutes * 20_000))
    say(`alone: ${alone.length} paid runs`)
    const end = performance.now() + minutes * 60_000
    const statuses = new Map<number, number>()
    const attackers = keys.flatMap((key, i) => attack(server, key, { i, end, statuses }))
    const half = Bun.sleep(minutes * 30_000).then(() => watched.disk())
    const beside = await paying(server, payer, minutes * 60_000)
    await Promise.all(attackers)
    const disk = { before: before.disk, half: await half, end: watched.disk() }
    const memory = { before: before.memory, most: watched.stop() }
    await server.stop()
    const all = { alone: timesOf(alone), beside: timesOf(beside) }
    const faults = faultsOf(wish, { disk, memory, statuses, ...all, paid: beside.length })
    return { ...wish, statuses, disk, memory, ...all, paid: beside.length, faults, build }
  } finally {
    await home.remove()
    await upstream.stop()
  }
}

type Measured = Pick<HostileResult, 'disk' | 'memory' | 'statuses' | 'alone' | 'beside' | 'paid'>

function faultsOf(wish: HostileWish, found: Measured): string[] {
  const faults: string[] = []
  const { disk, memory, statuses, alone, beside } = found
  // Tables, their indexes and the log in front of them hold a row some times over.
  const most = 64 + (wish.accounts * wish.bytes * 6) / mib
  if (disk.end - disk.before > most) faults.push(`${(disk.end - disk.before).toFixed(0)} MiB kept`)
  if (memory.most > mostMemoryMib) faults.push(`${memory.most.toFixed(0)} MiB of memory`)
  if (beside.p99 > Math.max(alone.p99 * mostTimes, alone.p99 + mostMoreMs)) {
    faults.push(`the paying account waited ${beside.p99.toFixed(0)} ms`)
  }
  if (found.paid === 0) faults.push('the paying account was not served')
  if (!statuses.has(429)) faults.push('no budget was used up')
  for (const status of statuses.keys()) {
    if (status >= 500) faults.push(`${statuses.get(status)} answers ${status}`)
  }
  return faults
}

/** Paid runs one after the other; every answer must be whole. Returns the milliseconds of each. */
async function paying(server: Server, key: string, ms: number): Promise<number[]> {
  const times: number[] = []
  const end = performance.now() + ms
  const messages = [{ role: 'user', content: 'hi' }]
  const json = { model: 'stub/pace-5', messages, max_tokens: 20 }
  while (performance.now() < end) {
    const begun = performance.now()
    const answer = await server.call('/v1/chat/completions', { key, json })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`a paid run was refused: ${text}`)
    times.push(performance.now() - begun)
    // Below the requests a minute of a key.
    await Bun.sleep(pauseMs)
  }
  return times
}

type Attack = { i: number; end: number; statuses: Map<number, number> }

/** What one account does at once, in loops, until the end: all that leaves something behind. */
function attack(server: Server, key: string, { i, end, statuses }: Attack): Promise<void>[] {
  const echo = {
    model: 'counterfoil/echo-1',
    messages: [{ role: 'user', content: 'x'.repeat(9000) }],
  }
  const calls = Array.from({ length: 16_000 }, (_, n) => {
    return { type: 'function_call', call_id: `c${n}`, name: 'f', arguments: '{}' }
  })
  const proof = { tlog: '\n— a aaaaaaaa'.repeat(2000) }
  // Written once: the attack must not take time from the measurements beside it.
  const ask = (path: string, json: object) => {
    const body = new TextEncoder().encode(JSON.stringify(json))
    const headers = { 'content-type': 'application/json' }
    return () => server.call(path, { key, headers, method: 'POST', body })
  }
  const ways: (() => Promise<Response>)[] = [
    ask('/v1/chat/completions', { ...echo, metadata: { note: 'x'.repeat(500) } }),
    ask('/v1/chat/completions', { ...echo, stream: true }),
    ask('/v1/quotes', {
      model: 'stub/pace-5',
      max_input_tokens: 9,
      max_output_tokens: 9,
      valid_s: 1,
    }),
    ask('/v1/responses', { model: 'counterfoil/echo-1', input: calls }),
    ask('/v1/responses', { model: 'counterfoil/echo-1', input: 'y'.repeat(20_000), store: true }),
    ask('/v1/receipts/verify', { receipt: {}, proof }),
    ask('/v1/embeddings', { model: 'counterfoil/embed-1', input: ['z'.repeat(2000)] }),
    () => unread(server, key),
  ]
  return ways.map(async (way) => {
    await Bun.sleep(i * 7)
    while (performance.now() < end) {
      const status = await way()
        .then(async (answer) => {
          await answer.text()
          return answer.status
        })
        .catch(() => 0)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      // A client that is refused asks again at once; one socket asks some hundred times a second.
      await Bun.sleep(status === 429 ? 20 : 2)
    }
  })
}

/** A stream whose client reads nothing for two seconds. */
async function unread(server: Server, key: string): Promise<Response> {
  const messages = [{ role: 'user', content: 'word '.repeat(4000) }]
  const json = { model: 'counterfoil/echo-1', stream: true, max_tokens: 4000, messages }
  const answer = await server.call('/v1/chat/completions', { key, json })
  await Bun.sleep(2000)
  return answer
}

function watch(home: Home, pid: number) {
  let most = 0
  const memory = (): number => usageOf(pid).rssMiB
  const timer = setInterval(() => {
    most = Math.max(most, memory())
  }, 500)
  return {
    memory,
    disk: () =>
      readdirSync(home.data, { recursive: true }).reduce((sum, name) => {
        const found = statSync(join(home.data, String(name)), { throwIfNoEntry: false })
        return sum + (found?.isFile() ? found.size / mib : 0)
      }, 0),
    stop() {
      clearInterval(timer)
      return most
    },
  }
}

export function hostileReport(result: HostileResult): string {
  const { accounts, minutes, writes, bytes, statuses, disk, memory, alone, beside } = result
  const listed = result.faults.map((fault) => `- ${fault}\n`).join('')
  const answers = [...statuses].sort(([a], [b]) => a - b).map(([s, n]) => `${n} × ${s || 'none'}`)
  const ms = (n: number) => n.toFixed(1)
  const round = (n: number) => n.toFixed(0)
  return `${headOf('Hostile accounts without money', 'hostile', result.build)}

${accounts} accounts that never paid do for ${minutes} minutes all at once what leaves something
behind or takes time: free runs whole and streamed, unread streams, quotes of a second,
kept answers, 16,000 function calls in one body, proofs with 2,000 signature lines. One account pays
for its runs meanwhile. The budget of each is ${writes} rows and ${round(bytes / mib)} MiB a day.

**${result.faults.length} faults.**

${listed}
- answers to them: ${answers.join(', ')}
- disk: ${round(disk.before)} MiB before, ${round(disk.half)} half way,
  ${round(disk.end)} at the end
- memory: ${round(memory.before)} MiB before, ${round(memory.most)} at most
- ${result.paid} paid runs beside them: median ${ms(beside.median)} ms, p99 ${ms(beside.p99)} ms
  (alone: median ${ms(alone.median)} ms, p99 ${ms(alone.p99)} ms)
`
}
