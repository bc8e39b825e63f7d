import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { metricsReader } from '../../../src/app/metrics/collect.ts'
import { metricsStore } from '../../../src/app/metrics/store.ts'
import { createApp } from '../../../src/app/routes.ts'
import { operations } from '../../../src/front/reference/areas.ts'
import { toUsd } from '../../../src/kernel/money.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { wholeApp } from '../../../src/web/http/lazy-mount.ts'
import { sampleIds } from '../../../src/web/http/shape.ts'
import {
  type Example,
  isOperated,
  methodOf,
  type Operation,
  pathOf,
} from '../../../src/web/reference/operation.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { bodyOf, type Fixtures, makeFixtures, urlOf } from '../../docs/fixtures.ts'
import { isApiRoute } from '../../docs/served.ts'
import { promise } from '../../support/promise.ts'
import { lastRun, upstreamToml } from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'
import { countAll } from '../usage/receipts.ts'

setDefaultTimeout(120_000)

/** Rates that nothing else has; 7 tokens read and 5 written cost a rare amount, too. */
const inputRate = 91_827_364_554_637n
const outputRate = 81_726_354_536_271n

const toml = (url: string) => `admins = ["${testAccount}"]
${upstreamToml('stub', url)}
[[models]]
id = "stub/rare"
kind = "chat"
route = [{ to = "stub:usage-exact", cost = { input_pusd = ${inputRate}, output_pusd = ${outputRate} } }]
context_tokens = 10000
max_output_tokens = 1000
input_pusd = 1_000_000
output_pusd = 2_000_000
terminal = true
[limits]
failed_auth_per_minute = 1_000_000
keyless_per_minute = 1_000_000
[terminal]
asks_per_day = 1000
daily_budget_nusd = 9_000_000_000
`

/** What of a cost could be seen: it in full, in groups, in dollars, and the margin it makes. */
function needlesOf(amounts: readonly bigint[]): string[] {
  return amounts.flatMap((amount) => {
    const digits = amount.toString()
    const grouped = [',', '_', ' '].map((by) => digits.replace(/\B(?=(\d{3})+$)/g, by))
    const [whole = '', fraction = ''] = toUsd(amount).split('.')
    return [digits, ...grouped, `${whole}.${fraction.slice(0, 4)}`]
  })
}

/** The text of an answer; of one that does not end, what came in a moment. */
async function textOf(answer: Response): Promise<string> {
  const reader = answer.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = JSON.stringify([...answer.headers])
  for (;;) {
    const late = Bun.sleep(400).then(() => undefined)
    const read = await Promise.race([reader.read(), late])
    if (read?.value === undefined) break
    text += decoder.decode(read.value, { stream: true })
  }
  await reader.cancel().catch(() => {})
  return text
}

describe('what a run costs the operator', () => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let needles: string[]
  const signer = privateKeyToAccount(generatePrivateKey())
  const account = signer.address.toLowerCase()

  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ toml: toml(stub.url) })
    await fixtures()
    await w.deps.sequencer.flush()
    await countAll(w)
    await fixtures()
    needles = await findNeedles()
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  /** A key of the account, and a run of the rare model with its receipt. */
  async function fixtures(): Promise<Fixtures> {
    // Its own account: examples revoke keys and retire passports.
    const { ids, ...bearers } = await makeFixtures(w)
    const { secret } = bearers
    const body = { model: 'stub/rare', input: 'hi', max_output_tokens: 10 }
    const answer = await w.call('/v1/runs', { key: secret, json: body })
    const run = await answer.json()
    expect([answer.status, run.id]).toEqual([200, expect.any(String)])
    const rare = { 'counterfoil/echo-1': 'stub/rare' }
    return {
      ...bearers,
      ids: { ...ids, ...rare, [sampleIds.run]: run.id, [sampleIds.rcpt]: run.receipt_id },
    }
  }

  async function findNeedles(): Promise<string[]> {
    const { runCosts, marginDays } = w.db.tables
    const stored = await w.db.read(function* (q) {
      const costs = yield* rows(q.select().from(runCosts))
      const days = yield* rows(q.select().from(marginDays))
      return [...costs, ...days]
    })
    const each = stored.map(({ cost }) => cost)
    expect(each.length).toBeGreaterThan(2)
    const sold = (await lastRun(w)).cost
    const one = (7n * inputRate + 5n * outputRate + 999n) / 1000n
    expect(each).toContain(one)
    const sums = Array.from({ length: 20 }, (_, i) => BigInt(i + 1) * one)
    const margins = sums.map((sum, i) => sum - BigInt(i + 1) * sold)
    const rates = [inputRate, outputRate, inputRate * 1000n, outputRate * 1000n]
    return needlesOf([...new Set([...each, ...sums, ...margins, ...rates])])
  }

  const expectNothing = (where: string, text: string): void => {
    expect([where, needles.filter((needle) => text.includes(needle))]).toEqual([where, []])
  }

  test('is what the operator sees: the sweep below looks for the right numbers', async () => {
    const own = browser(w)
    await signInWith(own)
    const answer = await own.call('/api/portal/admin/margins', {
      headers: { accept: 'application/json' },
    })
    const text = await answer.text()
    expect(needles.some((needle) => text.includes(needle))).toBe(true)
  })

  const send = (operation: Operation, example: Example, found: Fixtures, from: Sender) => {
    const form = example.form && new URLSearchParams(example.form).toString()
    const text = (form ?? bodyOf(example, found))?.replaceAll('counterfoil/echo-1', 'stub/rare')
    const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'
    return from(urlOf(pathOf(operation), example, found), {
      method: methodOf(operation),
      headers: { ...example.headers, ...(text === undefined ? {} : { 'content-type': type }) },
      ...(text === undefined ? {} : { body: text }),
    })
  }
  type Sender = (path: string, init: Init) => Promise<Response>
  type Init = { method: string; headers: Record<string, string>; body?: string }

  const titled = operations.map((one) => [one.route, one] as const)
  promise`O5 H: No account sees what a run costs the operator, on any route, page, export or log.`
  test.each(titled)('is not in any answer of %s', async (route, operation) => {
    for (const example of operation.examples) {
      const found = await fixtures()
      const own = await signedIn()
      const ids = { ...found.ids, [sampleIds.run]: own.run, [sampleIds.rcpt]: own.receipt }
      const senders: [string, Sender, Fixtures][] = [
        ['a key', (path, init) => w.call(path, { ...init, key: found.secret }), found],
        ['a session', (path, init) => own.from.call(path, init), { ...found, ids }],
        ['a stranger', (path, init) => w.call(path, init), found],
      ]
      for (const [who, from, of] of senders) {
        const answer = await send(operation, example, of, from)
        if (operation.access === 'admin' || isOperated(operation)) expect(answer.ok).toBe(false)
        expectNothing(`${route} to ${who}`, await textOf(answer))
      }
    }
  })

  async function signedIn(): Promise<{ from: Browser; run: string; receipt: string }> {
    const from = browser(w)
    await signInWith(from, signer)
    const { secret } = await w.key({ account, balance: usd })
    const body = { model: 'stub/rare', input: 'hi', max_output_tokens: 10 }
    const run = await (await w.call('/v1/runs', { key: secret, json: body })).json()
    // The plan bounds how many keys an account has.
    await w.call('/v1/keys/self/revoke', { key: secret, method: 'POST' })
    const { keyId } = (await w.deps.runs.find(run.id)) ?? {}
    if (keyId) await from.call(`/api/portal/keys/${keyId}/revoke`, { method: 'POST' })
    return { from, run: run.id, receipt: run.receipt_id }
  }

  promise`O5`
  test('is on no page, to an ordinary account and to a stranger', async () => {
    const { routes } = await wholeApp(createApp(w.deps))
    const pages = routes.filter((one) => one.method === 'GET' && !isApiRoute(one))
    expect(pages.length).toBeGreaterThan(40)
    const own = await signedIn()
    const { ids } = await fixtures()
    const { keyId = '' } = (await w.deps.runs.find(own.run)) ?? {}
    const names = [own.run, own.receipt, keyId, ids['scout'] ?? '', account, '0', 'stub%2Frare']
    const html = { accept: 'text/html' }
    let shown = 0
    for (const { path } of pages) {
      const urls = path.includes(':')
        ? names.map((name) => path.replaceAll(/:\w+\??/g, name))
        : [path.replace('*', 'stub/rare'), `${path.replace('*', 'x')}?days=7&by=model`]
      for (const url of urls) {
        for (const from of [own.from, browser(w)]) {
          const answer = await from.call(url, { headers: html })
          if (answer.ok) shown++
          if (url.startsWith('/dashboard/admin')) expect([url, answer.status]).toEqual([url, 404])
          expectNothing(url, await textOf(answer))
        }
      }
    }
    expect(shown).toBeGreaterThan(60)
  })

  promise`O5`
  test('is in no export, no metric, no line of the log and no table but its own', async () => {
    const { secret } = await fixtures()
    await w.deps.sequencer.flush()
    for (const format of ['csv', 'jsonl', 'focus']) {
      const answer = await w.call(`/v1/usage/export?format=${format}`, { key: secret })
      const text = await answer.text()
      expect(text).toContain('stub/rare')
      expectNothing(format, text)
    }
    await w.deps.sequencer.flush()
    await countAll(w)
    expectNothing(
      'metrics',
      await metricsReader({ ...w.deps, metrics: metricsStore(w.db), readProcess: undefined })(),
    )
    const toText = (_: string, value: unknown): unknown => {
      if (value instanceof Error) return [value.message, value.stack, { ...value }]
      return typeof value === 'bigint' ? value.toString() : value
    }
    expectNothing('the log', JSON.stringify(w.logged, toText))
    for (const [name, table] of Object.entries(w.db.tables)) {
      if (name === 'runCosts' || name === 'marginDays') continue
      const stored = await w.db.read((q) => rows(q.select().from(table)))
      expectNothing(name, JSON.stringify(stored, toText))
    }
  })
})
