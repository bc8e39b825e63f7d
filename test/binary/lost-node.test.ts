import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { noBinary, type Server } from '../support/binary.ts'
import { postgresServer } from '../support/postgres.ts'
import { until } from '../support/runs.ts'
import { faultsIn, type Pair, startPair, untilNumbered } from './nodes.ts'

const flat = { model: 'stub/flat', input: 'hello' }
/** How often connections are cut, and in which pauses, in ms. */
const cuts = 15
const pauseMs = 200

describe.skipIf(noBinary || !postgresServer)('two nodes on one PostgreSQL', () => {
  let pair: Pair
  let a: Server
  let b: Server
  beforeAll(async () => {
    pair = await startPair()
    ;[a, b] = pair.nodes
  }, 90_000)
  afterAll(() => pair?.stop(), 30_000)

  test('whose connections are cut in the middle of transactions lose nothing and pay nothing twice', async () => {
    const { key } = await pair.funded('5.00')
    const paid = new Set<string>()
    let isOver = false
    const load = async (node: Server) => {
      while (!isOver) {
        const answer = await node.call('/v1/runs', { key: key.secret, json: flat })
        const { id } = (await answer.json()) as { id?: string }
        if (answer.status === 200 && id) paid.add(id)
      }
    }
    const workers = [a, b].flatMap((node) => Array.from({ length: 6 }, () => load(node)))
    await until('runs to be paid', () => paid.size > 10, 60_000)
    const { sql, name } = pair.database
    let killed = 0
    for (let cut = 0; cut < cuts; cut++) {
      const gone = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = ${name} and pid <> pg_backend_pid()`
      killed += gone.length
      await Bun.sleep(pauseMs)
    }
    const before = paid.size
    await until('both to go on', () => paid.size > before + 10, 60_000)
    isOver = true
    await Promise.all(workers)
    expect(killed).toBeGreaterThan(cuts)
    await untilNumbered(pair)
    expect(await faultsIn(pair)).toEqual([])
    const stored = await sql`select id from runs where status = 'succeeded'`
    const known = new Set(stored.map((run: { id: string }) => run.id))
    expect([...paid].filter((id) => !known.has(id))).toEqual([])
    for (const node of [a, b]) expect((await node.call('/readyz')).status).toBe(200)
  }, 180_000)

  test('of which one is killed: the other frees its runs and goes on with the log', async () => {
    const { key } = await pair.funded('5.00')
    const call = { key: key.secret }
    const begin = () =>
      a.call('/v1/runs', {
        ...call,
        json: { model: 'stub/endless', input: 'go on', background: true },
      })
    const begun = await Promise.all(Array.from({ length: 10 }, begin))
    const ids = await Promise.all(begun.map(async (answer) => (await answer.json()).id as string))
    const show = async (id: string) => (await b.call(`/v1/runs/${id}`, call)).json()
    await until(
      'the runs to begin',
      async () => (await Promise.all(ids.map(show))).every(({ status }) => status === 'running'),
      30_000,
    )
    // It numbers the log too, if it is the one that has that lease.
    expect((await a.call('/v1/runs', { ...call, json: flat })).status).toBe(200)
    await a.stop('SIGKILL')
    const after = await b.call('/v1/runs', { ...call, json: flat })
    expect(after.status).toBe(200)
    await untilNumbered(pair, 90_000)
    for (const id of ids) {
      const run = await show(id)
      expect(run).toMatchObject({ status: 'interrupted', cost_nusd: 0 })
      expect(run.receipt_id).toMatch(/^rcpt_/)
    }
    const balance = await (await b.call('/v1/balance', call)).json()
    expect(balance.held_nusd).toBe(0)
    expect(await faultsIn(pair)).toEqual([])
    // And it comes back.
    const [home] = pair.homes
    const again = await home.start({ port: a.port })
    expect((await again.call('/v1/runs', { ...call, json: flat })).status).toBe(200)
    await untilNumbered(pair)
    expect(await faultsIn(pair)).toEqual([])
  }, 240_000)
})
