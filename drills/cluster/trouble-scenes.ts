/** A database in trouble that loses nothing: what clients and operators are told meanwhile. */

import { readFileSync, writeFileSync } from 'node:fs'
import { freePort } from '../../test/support/free-port.ts'
import { until } from '../../test/support/runs.ts'
import { targetOf } from '../../test/support/silent-proxy.ts'
import { seconds } from '../report.ts'
import { judgeAcknowledged, judgeDatabase } from './judge.ts'
import type { Node } from './nodes.ts'
import type { PgServer } from './postgres-server.ts'
import type { Scene, Stage } from './scene.ts'

const lockedMs = 14_000
/** How long after its beginning a lock is told, in ms. */
const toldWithinMs = 12_000
/** How long a client waits for a refusal once the first one came and a probe followed, in ms. */
const gatedAfterMs = 5000
const atOnceMs = 1000
/** Longer than a supervisor took to give up a start, in ms. */
const awayMs = 8000
const jumpS = 25
/** Two of a node's looks at the other nodes' leases, in ms. */
const watchedMs = 22_000

const printedBy = ({ home }: Node): string => readFileSync(home.printed.stderr, 'utf8')

/** Ends the load and compares what clients hold with the database. */
async function judge({ primary, clients, claim }: Stage, others = 0): Promise<void> {
  await clients.stop({ finishWithinMs: 60_000 })
  await judgeDatabase(primary, claim)
  await judgeAcknowledged(primary, clients.wishes, claim, others)
}

const isReady = ({ probes, service }: Stage, since: number): boolean =>
  service.nodes.every(({ name }) =>
    probes
      .since(since)
      .some(({ node, path, status }) => node === name && path === '/readyz' && status === 200),
  )

const lockedTable: Scene = {
  name: 'a table of the database is locked for 14 s',
  expected: '/readyz, status and log name it within 12 s; all is well again by itself',
  replication: 'asynchronous',
  async play(stage) {
    const { primary, probes, service, claim } = stage
    const sql = new Bun.SQL({ url: primary.url, max: 1 })
    const lockedAt = performance.now()
    await sql.begin(async (tx) => {
      await tx`lock table accounts in access exclusive mode`
      await Bun.sleep(lockedMs)
    })
    await sql.close()
    const freeAt = performance.now()
    await until('the nodes to be ready', () => isReady(stage, freeAt), 30_000)
    const readyAt = performance.now()
    const during = probes.seen.filter(({ at }) => at > lockedAt && at < freeAt)
    const told = service.nodes.map(({ name }) =>
      during.find(
        ({ node, path, said }) =>
          node === name && path === '/readyz' && said.includes('storage_busy'),
      ),
    )
    const lastMs = Math.max(...told.map((probe) => (probe?.at ?? Infinity) - lockedAt))
    claim(lastMs <= toldWithinMs, `the last /readyz said so after ${seconds(lastMs)}`)
    const degraded = during.filter(
      ({ path, said }) => path === '/v1/status' && said.includes('"status":"degraded"'),
    )
    claim(degraded.length > 0, 'no status was degraded')
    for (const node of service.nodes) {
      claim(printedBy(node).includes('LOCK accounts'), `${node.name} does not log the table`)
    }
    await judge(stage)
    return `told by all after ${seconds(lastMs)}, ready ${seconds(readyAt - freeAt)} after its end`
  },
}

const deadBehindBalancer: Scene = {
  name: 'the server dies, and a balancer goes on taking connections for it',
  expected: 'requests are refused at once five seconds later, and not after ten seconds each',
  replication: 'asynchronous',
  async play(stage) {
    const { primary, proxy, clients, claim } = stage
    proxy.moveTo(targetOf(primary.url))
    proxy.vanish()
    await primary.kill()
    const deadAt = performance.now()
    await Bun.sleep(15_000)
    await primary.start()
    proxy.comeBack()
    const backAt = performance.now()
    await until('the nodes to be ready', () => isReady(stage, backAt), 30_000)
    const readyAt = performance.now()
    const late = clients.refused.filter(
      ({ at, tookMs }) => at - tookMs > deadAt + gatedAfterMs && at < backAt,
    )
    const slow = late.filter(({ tookMs }) => tookMs > atOnceMs)
    const slowest = Math.max(0, ...late.map(({ tookMs }) => tookMs))
    claim(late.length > 0, 'nothing was refused')
    claim(slow.length === 0, `${slow.length} refusals took up to ${seconds(slowest)}`)
    await judge(stage)
    return [
      `${late.length} refusals after ${seconds(gatedAfterMs)}, the slowest in ${seconds(slowest)}`,
      `ready ${seconds(readyAt - backAt)} after the server was back`,
    ].join('; ')
  },
}

const startsFirst: Scene = {
  name: 'a node starts 8 s before its database',
  expected: 'it waits, /readyz says for what, and it serves by itself',
  replication: 'asynchronous',
  async play(stage) {
    const { primary, service, claim } = stage
    const [node] = service.nodes as [Node]
    await node.server.stop()
    await primary.kill()
    await node.start({ port: freePort(), probe: '/livez', isWaiting: true })
    await Bun.sleep(awayMs)
    const ready = await node.server.call('/readyz')
    const { error } = await ready.json()
    const said = `${ready.status} ${error?.metadata?.reason}`
    claim(said === '503 database', `/readyz says ${said}`)
    await primary.start()
    const backAt = performance.now()
    await until('the nodes to be ready', () => isReady(stage, backAt), 30_000)
    const readyAt = performance.now()
    await judge(stage)
    return `/readyz said ${said}; ready ${seconds(readyAt - backAt)} after the database`
  },
}

const readOnly: Scene = {
  name: 'the server is read-only for 8 s',
  expected: 'no node says that it recovered before it took a write',
  replication: 'asynchronous',
  async play(stage) {
    const { primary, service, claim } = stage
    const recovered = () =>
      service.nodes.map((node) => printedBy(node).split('storage.recovered').length)
    const name = new URL(primary.url).pathname.slice(1)
    await primary.ask(
      `alter database ${name} set default_transaction_read_only = on`,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = '${name}' and pid <> pg_backend_pid()`,
    )
    await until('every node to say so', () =>
      service.nodes.every((node) => printedBy(node).includes('storage_read_only')),
    )
    const before = recovered()
    await Bun.sleep(awayMs)
    claim(`${recovered()}` === `${before}`, 'a node said that it recovered')
    await primary.ask(
      'set default_transaction_read_only = off',
      `alter database ${name} reset default_transaction_read_only`,
    )
    const backAt = performance.now()
    await until('the nodes to be ready', () => isReady(stage, backAt), 30_000)
    const readyAt = performance.now()
    await judge(stage)
    return `ready ${seconds(readyAt - backAt)} after it took writes`
  },
}

/** Of a primary whose clock a file sets, by `faketime`. */
const clockJump = (offsetS: number): Scene => ({
  name:
    `the clock of the database jumps ${offsetS > 0 ? 'ahead' : 'back'} by ` +
    `${Math.abs(offsetS)} s`,
  expected: 'no run of a living node is interrupted',
  replication: 'asynchronous',
  isClockFaked: true,
  nodes: 2,
  async play(stage) {
    const { primary, service, claim } = stage
    const { secret } = service
    const json = { model: 'stub/endless', input: 'go on', background: true }
    const ids: string[] = []
    for (const { server } of service.nodes) {
      const answer = await server.call('/v1/runs', { key: secret, json })
      const { id, error } = await answer.json()
      if (!id) throw new Error(`a long run is refused: ${answer.status} ${error?.message}`)
      ids.push(id)
    }
    setClock(primary, offsetS)
    await Bun.sleep(watchedMs)
    const [first] = service.nodes as [Node]
    const show = async (id: string): Promise<string> => {
      const answer = await first.server.call(`/v1/runs/${id}`, { key: secret })
      const { status, error } = await answer.json()
      return status ?? `${answer.status} ${error?.message}`
    }
    for (const id of ids) {
      const status = await show(id)
      claim(status === 'running', `a run is ${status}`)
      await first.server.call(`/v1/runs/${id}/cancel`, { key: secret, json: {} })
      await until('the run to end', async () => (await show(id)) === 'cancelled', 20_000)
    }
    await judge(stage, ids.length)
    const [row] = await primary.ask<{ count: string }>(
      `select count(*) from runs where status = 'interrupted'`,
    )
    claim(Number(row?.count) === 0, `${row?.count} runs were interrupted`)
    return `${ids.length} long runs went on, ${row?.count} interrupted`
  },
})

/** Sets the clock of a server that runs under `faketime` this far ahead, in s. */
export const setClock = ({ data }: Pick<PgServer, 'data'>, offsetS: number): void =>
  writeFileSync(`${data}.clock`, `${offsetS < 0 ? '' : '+'}${offsetS}s`, { mode: 0o644 })

export const troubles: Scene[] = [lockedTable, deadBehindBalancer, startsFirst, readOnly]
export const clockJumps: Scene[] = [clockJump(jumpS), clockJump(-jumpS)]
