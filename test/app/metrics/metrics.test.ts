import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { serveMetrics } from '../../../src/app/serve-metrics.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { refusals } from '../../../src/kernel/refusal.ts'
import { promise } from '../../support/promise.ts'
import { modelsToml, until } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { readExposition, type ToldFamily } from './exposition.ts'

const facts = { residentBytes: 1, heapBytes: 2, cpuSeconds: 0.5, startedAt: 3 }

/** The listener of a service, as the configuration would open it. */
function openMetrics(w: World, listen = '127.0.0.1:0') {
  const inputs = { flags: {}, env: {}, filePath: 'test.toml', readFile: () => undefined }
  const loaded = loadConfig({ ...inputs, fileText: `[metrics]\nlisten = "${listen}"` })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  const opened = serveMetrics(w.deps, { ...loaded, db: w.db, readProcess: () => facts })
  if (!opened) throw new Error('it is off')
  return opened
}

for (const engine of engines) {
  describe(`what /metrics tells on ${engine}`, () => {
    let upstream: StubUpstream
    let w: World
    let metrics: ReturnType<typeof openMetrics>
    let secret: string
    let text: string
    let told: Map<string, ToldFamily>
    beforeAll(async () => {
      upstream = await startStubUpstream()
      const toml = modelsToml(
        upstream.url,
        ['normal', 'status-500', 'cut-2', 'stall'],
        'max_in_flight = 7',
      )
      w = await world({ engine, toml })
      metrics = openMetrics(w)
      secret = (await w.key({ balance: usd })).secret
      const messages = [{ role: 'user', content: 'keep this private' }]
      for (const [model, stream] of asked) {
        const json = { model, messages, max_tokens: 100, stream, user: 'carol' }
        await (await w.call('/v1/chat/completions', { key: secret, json })).text()
      }
      // On PostgreSQL the log names a run moments after its answer.
      await until('the log', async () => (await w.deps.logStore.size()) > 0)
      text = await (await fetch(metrics.url)).text()
      told = readExposition(text)
      // PGlite takes its time on a busy machine.
    }, 60_000)
    afterAll(async () => {
      await metrics.stop()
      await w.stop()
      await upstream.stop()
    })

    const asked: [string, boolean][] = [
      ['stub/normal', false],
      ['stub/normal', true],
      ['stub/status-500', false],
      ['stub/cut-2', true],
      ['counterfoil/echo-1', false],
    ]
    const values = (name: string) =>
      Object.fromEntries(
        (told.get(name)?.samples ?? []).map(({ labels, text }) => [
          Object.values(labels).join(' '),
          text,
        ]),
      )

    test('runs are counted as they end, by model and outcome', () => {
      expect(values('counterfoil_runs_total')).toEqual({
        'stub/normal complete': '2',
        'stub/status-500 failed': '1',
        'stub/cut-2 partial': '1',
        'counterfoil/echo-1 complete': '1',
      })
      const count = told
        .get('counterfoil_run_duration_seconds')
        ?.samples.find(({ name }) => name.endsWith('_count'))
      expect([count?.labels, count?.text]).toEqual([{ kind: 'chat' }, '5'])
    })

    test('money is counted in whole nano-USD, and agrees with the balance', async () => {
      const { balance } = (await w.deps.accounts.find(testAccount)) ?? { balance: -1n }
      const costs = Object.values(values('counterfoil_run_cost_nusd_total')).map(BigInt)
      const spent = costs.reduce((sum, one) => sum + one, 0n)
      expect(spent).toBe(usd - balance)
      expect(values('counterfoil_transferred_nusd_total')).toEqual({
        grant: String(usd),
        run: String(spent),
      })
    })

    test('requests and failures are counted by upstream', () => {
      expect(values('counterfoil_upstream_requests_total')).toEqual({ stub: '4', builtin: '1' })
      expect(values('counterfoil_upstream_failures_total')).toEqual({
        'stub error': '1',
        'stub cut': '1',
      })
      const means = values('counterfoil_upstream_first_token_seconds')
      for (const [place, seconds] of Object.entries(means)) {
        expect(place).toMatch(/^(stub|builtin) /)
        expect(Number(seconds)).toBeGreaterThanOrEqual(0)
      }
      expect(Object.keys(means).length).toBeGreaterThan(0)
      expect(values('counterfoil_upstream_places_most')).toEqual({ stub: '7' })
      expect(values('counterfoil_upstream_places_taken')).toEqual({ stub: '0' })
      expect(values('counterfoil_upstream_places_waiting')).toEqual({ stub: '0' })
    })

    test('no hold is open, and what is off or not known yet is left out', () => {
      expect(values('counterfoil_holds_open')).toEqual({ '': '0' })
      expect(values('counterfoil_oldest_hold_seconds')).toEqual({ '': '0' })
      expect(Number(values('counterfoil_log_size')[''])).toBeGreaterThanOrEqual(1)
      expect(values('counterfoil_database_up')).toEqual({ '': '1' })
      expect(told.has('counterfoil_database_wal_bytes')).toBe(engine === 'sqlite')
      const off = ['ledger_balanced', 'chain_ok', 'deposits_ok', 'anchors_ok']
      expect(off.filter((name) => told.has(`counterfoil_${name}`))).toEqual([])
      expect(values('process_resident_memory_bytes')).toEqual({ '': '1' })
    })

    promise`A18`
    test('nothing in it names an account, a key or what anyone wrote', () => {
      const words = [testAccount, testAccount.slice(2), 'sk-service', secret]
      words.push('keep this private', 'carol', 'quick', upstream.url)
      expect(words.filter((word) => text.toLowerCase().includes(word.toLowerCase()))).toEqual([])
      expect(text).not.toMatch(/(run|key|rcpt|acc|node)_[0-9a-z]{16}/)
    })

    test('every label is one of a few, with values of the configuration or a closed list', () => {
      const models = w.deps.catalogue
        .list()
        .flatMap(({ id, route }) => [id, ...route.map((step) => step.model)])
      const upstreams = w.deps.upstreams.list().map(({ id }) => id)
      const closed: Record<string, readonly string[] | undefined> = {
        model: models,
        upstream: upstreams,
        kind: ['chat', 'embedding', 'run', 'grant', 'deposit', 'plan', 'claim'],
        outcome: ['complete', 'partial', 'failed', 'cancelled', 'interrupted'],
        type: Object.keys(refusals),
        result: ['ok', 'refused', 'failed'],
        reason: ['rejected', 'unreachable', 'error', 'busy', 'share', 'timeout', 'too_long', 'cut'],
      }
      const free = ['le', 'version', 'commit', 'engine']
      const odd = [...told.values()].flatMap(({ samples }) =>
        samples.flatMap(({ labels }) =>
          Object.entries(labels).filter(
            ([name, value]) => !free.includes(name) && !closed[name]?.includes(value),
          ),
        ),
      )
      expect(odd).toEqual([])
    })

    test('an open hold is seen, and the place that its run has', async () => {
      const gone = new AbortController()
      const messages = [{ role: 'user', content: 'x' }]
      const json = { model: 'stub/stall', messages, max_tokens: 10 }
      const asking = w
        .call('/v1/chat/completions', { key: secret, json, signal: gone.signal })
        .catch(() => undefined)
      await until('the hold', async () => {
        told = readExposition(await (await fetch(metrics.url)).text())
        return values('counterfoil_holds_open')[''] === '1'
      })
      expect(Number(values('counterfoil_oldest_hold_seconds')[''])).toBeGreaterThanOrEqual(0)
      expect(values('counterfoil_runs_in_flight')).toEqual({ '': '1' })
      expect(values('counterfoil_upstream_places_taken')).toEqual({ stub: '1' })
      gone.abort()
      await asking
    })
  })
}

describe('the listener of /metrics', () => {
  let w: World
  let metrics: ReturnType<typeof openMetrics>
  beforeAll(async () => {
    w = await world()
    metrics = openMetrics(w)
  })
  afterAll(async () => {
    await metrics.stop()
    await w.stop()
  })

  promise`C12`
  test('The port of the metrics differs from that of the API, which answers 404.', async () => {
    expect((await w.call('/metrics')).status).toBe(404)
    expect(new URL(metrics.url).port).not.toBe(new URL(w.origin).port)
  })

  test('gives the text format, and nothing but it', async () => {
    const answer = await fetch(metrics.url)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const base = metrics.url.replace('/metrics', '')
    for (const path of ['/', '/v1/status', '/metrics/', '/v1/keys', '/livez']) {
      expect((await fetch(base + path)).status).toBe(404)
    }
    expect((await fetch(metrics.url, { method: 'POST' })).status).toBe(405)
  })

  test('on loopback it knows loopback names only: a rebound name reads nothing', async () => {
    for (const host of ['evil.example', 'localhost:1', w.origin.slice('http://'.length)]) {
      const answer = await fetch(metrics.url, { headers: { host } })
      expect([host, answer.status]).toEqual([host, 421])
    }
    const open = openMetrics(w, '0.0.0.0:0')
    const url = open.url.replace('0.0.0.0', '127.0.0.1')
    expect((await fetch(url, { headers: { host: 'node-1.internal:9464' } })).status).toBe(200)
    await open.stop()
  })

  test('is off where the configuration names none', () => {
    const inputs = { flags: {}, env: {}, filePath: 'test.toml', readFile: () => undefined }
    const loaded = loadConfig({ ...inputs, fileText: '' })
    if ('problems' in loaded) throw new Error('a default is wrong')
    expect(serveMetrics(w.deps, { ...loaded, db: w.db, readProcess: undefined })).toBeUndefined()
  })

  test('what the jobs found is told: the ledger, the chain, deposits', async () => {
    Object.assign(w.deps.health, { ledger: 'unbalanced', ledgerFaults: 3, log: 'diverged' })
    w.deps.health.anchors.balanceWei = 12_345_678_901_234_567_890n
    const text = await until('the new state', async () => {
      const found = await (await fetch(metrics.url)).text()
      return found.includes('counterfoil_ledger_drift') && found
    })
    const told = readExposition(text)
    const value = (name: string) => told.get(name)?.samples[0]?.text
    expect(value('counterfoil_ledger_balanced')).toBe('0')
    expect(value('counterfoil_ledger_drift')).toBe('3')
    expect(value('counterfoil_log_diverged')).toBe('1')
    expect(value('counterfoil_anchor_sender_wei')).toBe('12345678901234567890')
  })

  test('a database that is gone is told, with all that needs none', async () => {
    const gone = await world()
    const opened = openMetrics(gone)
    await gone.db.close()
    const told = readExposition(await (await fetch(opened.url)).text())
    expect(told.get('counterfoil_database_up')?.samples[0]?.value).toBe(0)
    expect(told.has('counterfoil_holds_open')).toBe(false)
    expect(told.has('counterfoil_runs_in_flight')).toBe(true)
    await opened.stop()
    await gone.stop().catch(() => undefined)
  })
})
