import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { metricsReader } from '../../../src/app/metrics/collect.ts'
import { metricsStore } from '../../../src/app/metrics/store.ts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import { endAbandoned } from '../../../src/runs/end-abandoned.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { pacedModels, startPacedUpstream } from '../../support/paced-upstream.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { until } from '../../support/runs.ts'
import { fundedKey, type Node, startNode } from '../../support/services.ts'
import type { StubUpstream } from '../../support/stub-upstream.ts'
import { freshDbWithClock, sharedEngines, testAccount } from '../../support/world.ts'

setDefaultTimeout(60_000)

describe.each(sharedEngines)('two servers on one %s, one with a wrong clock', (engine) => {
  let stub: StubUpstream
  let fresh: Awaited<ReturnType<typeof freshDbWithClock>>
  let right: Node
  let key = ''
  let toml = ''
  beforeAll(async () => {
    stub = await startPacedUpstream()
    fresh = await freshDbWithClock(engine)
    toml = pacedModels(stub.url)
    right = await startNode(fresh.db, { toml })
    key = await fundedKey(right)
  })
  afterAll(async () => {
    await right.stop()
    await fresh.db.close()
    await fresh.drop()
    await stub.stop()
  })

  const begin = async (node: Node): Promise<string> => {
    // One that just started listens to those that were alive.
    const isReady = async () => (await node.call('/readyz')).status === 200
    await until('the node to be ready', isReady, 20_000)
    const json = { model: 'stub/endless', input: 'hello', background: true }
    const answer = await node.call('/v1/runs', { key, json })
    expect(answer.status).toBe(202)
    const { id } = await answer.json()
    await until('the run to begin', async () => (await statusOf(node, id)) === 'running')
    return id
  }
  const statusOf = async (node: Node, id: string): Promise<string> =>
    (await (await node.call(`/v1/runs/${id}`, { key })).json()).status
  const cancel = async (node: Node, id: string): Promise<void> => {
    await node.call(`/v1/runs/${id}/cancel`, { key, json: {} })
    await until('the run to be cancelled', async () => (await statusOf(node, id)) === 'cancelled')
  }
  const told = async (node: Node) => (await node.call('/v1/status')).json()
  const runOn = (node: Node) =>
    node.call('/v1/runs', { key, json: { model: 'stub/flat', input: 'hello' } })
  const gaugeOf = async ({ deps }: Node): Promise<number> => {
    const metrics = metricsStore(fresh.db)
    const text = await metricsReader({ ...deps, metrics, readProcess: undefined })()
    return Number(/^counterfoil_clock_offset_seconds (\S+)$/m.exec(text)?.[1])
  }

  promise`N2 C: No clock of one server interrupts runs of another: leases go by the clock of the
    database. A skewed clock is a warning, a wrong one refuses to serve.`
  test.each([15_000, -15_000])(
    'neither ends runs of the other, and it warns, off by %i ms',
    async (aheadMs) => {
      const before = await begin(right)
      const other = await startNode(fresh.db, { toml, aheadMs })
      const later = await begin(other)
      await endAbandoned(other.deps)
      await endAbandoned(right.deps)
      expect([await statusOf(right, before), await statusOf(right, later)]).toEqual([
        'running',
        'running',
      ])
      const { status, clock } = await told(other)
      expect([status, clock.status]).toEqual(['degraded', 'skewed'])
      expect(Math.abs(clock.offset_ms - aheadMs)).toBeLessThan(1000)
      expect(Math.abs((await gaugeOf(other)) - aheadMs / 1000)).toBeLessThan(1)
      expect(await told(right)).toMatchObject({ status: 'ok', clock: { status: 'ok' } })
      expect((await runOn(other)).status).toBe(200)
      expect((await other.call('/readyz')).status).toBe(200)
      const counted = () => [right, other].every(({ deps }) => deps.settings.nodes === 2)
      await until('both to count two servers', counted, 20_000)
      expect(other.logged.filter((event) => event.startsWith('clock.'))).toEqual(['clock.skewed'])
      await cancel(right, before)
      await cancel(other, later)
      await other.stop()
    },
  )

  test.each([25_000, -25_000])(
    'a jump of the database’s own clock by %i ms interrupts no run of either',
    async (jumpMs) => {
      let jumped = 0
      const readClock = async () => ((await fresh.db.readClock?.()) ?? 0) + jumped
      const watching = await startNode({ ...fresh.db, readClock }, { toml })
      const id = await begin(right)
      jumped = jumpMs
      await watching.deps.leaseClock.measure()
      expect(await endAbandoned(watching.deps)).toBe(0)
      expect(await statusOf(right, id)).toBe('running')
      await cancel(right, id)
      await watching.stop()
    },
  )

  test('a run that another node ended says so, whole or in a stream, and is not charged', async () => {
    const json = { model: 'stub/pace-300', messages: [{ role: 'user', content: 'hello' }] }
    const ask = (more = {}) =>
      right.call('/v1/chat/completions', { key, json: { ...json, ...more } })
    const [whole, streamed] = [ask(), ask({ stream: true })]
    await until('both to begin', async () => (await right.deps.runs.openHere()).length === 2)
    // As if they were of a node that died, so that an end comes from elsewhere.
    const { openRuns } = fresh.db.tables
    await fresh.db.write((q) => rows(q.update(openRuns).set({ node: 'node_dead' }).returning()))
    expect(await endAbandoned(right.deps)).toBe(2)
    const answer = await whole
    const { error } = await answer.json()
    expect([answer.status, error.type, error.metadata.reason]).toEqual([
      ...[503, 'unavailable', 'run_interrupted'],
    ])
    expect(error.message).toContain('another one ended the run')
    const text = await (await streamed).text()
    expect(text).toContain('another one ended the run')
    expect(text).not.toContain('Something broke')
    const balance = await (await right.call('/v1/balance', { key })).json()
    expect(balance.held_nusd).toBe(0)
  })

  promise`N2`
  test.each([60_000, -60_000])(
    'it refuses to serve until it is right again, after a jump of %i ms',
    async (aheadMs) => {
      const other = await startNode(fresh.db, { toml })
      const ofRight = await begin(right)
      const ofOther = await begin(other)
      // Nothing is measured between the jump and what follows.
      other.setClock(aheadMs)
      await endAbandoned(other.deps)
      await endAbandoned(right.deps)
      const reason = { reason: 'clock' }
      for (const path of ['/readyz', undefined]) {
        const answer = path ? await other.call(path) : await runOn(other)
        expect(answer.status).toBe(503)
        expect(answer.headers.get('retry-after')).toBe('5')
        expect((await answer.json()).error).toMatchObject({ type: 'unavailable', metadata: reason })
      }
      const grant = { account: testAccount, amount: 1n, reason: 'test', actor: 'test' }
      expect(await outcomeOf(grantCredit(other.deps, grant))).toThrow(
        aheadMs > 0 ? '60.0 s ahead of its database' : '60.0 s behind its database',
      )
      expect(await told(other)).toMatchObject({ status: 'degraded', clock: { status: 'wrong' } })
      expect((await other.call('/livez')).status).toBe(200)
      await until('the log to say so', () => other.logged.includes('clock.wrong'), 20_000)
      // A run that began may end, and neither node ended one of the other.
      expect([await statusOf(right, ofRight), await statusOf(right, ofOther)]).toEqual([
        'running',
        'running',
      ])
      await cancel(other, ofOther)
      other.setClock(0)
      expect((await runOn(other)).status).toBe(200)
      expect((await other.call('/readyz')).status).toBe(200)
      await until('the log to say so', () => other.logged.includes('clock.right'), 20_000)
      const ofClock = other.logged.filter((event) => event.startsWith('clock.'))
      expect(ofClock).toEqual(['clock.wrong', 'clock.right'])
      await cancel(right, ofRight)
      await other.stop()
    },
  )

  promise`N2`
  test.each([60_000, -60_000])(
    'it does not start, names both clocks, and ends no run, off by %i ms',
    async (aheadMs) => {
      const run = await begin(right)
      const started = startNode(fresh.db, { toml, aheadMs })
      expect(await outcomeOf(started)).toThrow(
        /^the clock of this machine is (59\.9|60\.0|60\.1) s .* \(\d{4}-.*Z here, \d{4}-.*Z there\); set it: timedatectl set-ntp true, and start again$/,
      )
      expect(await statusOf(right, run)).toBe('running')
      await cancel(right, run)
    },
  )
})
