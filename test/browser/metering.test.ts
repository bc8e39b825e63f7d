import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { update } from '../../src/storage/db/sql/query-steps.ts'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { answerWithUsage, bodyFor, meteredToml } from '../models/metering/service.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'
import { inspectPage, lookName, looks } from './support.ts'

// A browser on a busy machine.
setDefaultTimeout(60_000)

describe.skipIf(noChromium)('pages of a service with every meter', () => {
  let upstream: StubUpstream
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  let receipt: string
  let webhook: string
  beforeAll(async () => {
    upstream = await startStubUpstream({ handler: answerWithUsage })
    w = await world({ toml: `admins = ["${testAccount}"]\n${meteredToml(upstream.url)}` })
    const { secret } = await w.key({ balance: usd })
    for (const model of ['acme/small', 'acme/large']) {
      const answer = await w.call('/v1/chat/completions', { key: secret, json: bodyFor(model) })
      receipt = (await answer.json()).receipt.id
    }
    const person = caller(w)
    await signInWith(person)
    const send = async (path: string, json: object) =>
      (await person.call(`/api/portal/webhooks${path}`, { json })).json()
    const made = await send('', { url: 'https://example.com/hooks/counterfoil' })
    webhook = made.id
    await send(`/${webhook}/test`, {})
    const { data } = await (await person.call(`/api/portal/webhooks/${webhook}/deliveries`)).json()
    const row = await w.deps.webhooks.delivery(webhook, data[0].id)
    const now = w.deps.clock.now()
    if (!row) throw new Error('no delivery')
    const failed = { ...row, ...ended, triedAt: now, doneAt: now }
    const fields = Object.keys({ ...ended, triedAt: 0, doneAt: 0 }) as (keyof typeof failed)[]
    await w.db.write(() => update(w.db.tables.webhookDeliveries, [failed], fields))
    await send(`/${webhook}/test`, {})
    cookies = [...person.jar].map(([name, value]) => ({ name, value }))
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
    await upstream?.stop()
  })

  const pages: [name: string, path: () => string][] = [
    ['models', () => '/models'],
    ['operator’s models', () => '/dashboard/admin/models'],
    ['usage', () => '/dashboard/usage'],
    ['a run', () => `/dashboard/runs/${receipt.replace('rcpt_', 'run_')}`],
    ['a receipt', () => `/dashboard/receipts/${receipt}`],
    ['settings', () => '/dashboard/settings'],
    ['webhooks', () => '/dashboard/webhooks'],
    ['a new webhook', () => '/dashboard/webhooks/new'],
    ['a webhook', () => `/dashboard/webhooks/${webhook}`],
  ]
  const cases = pages.flatMap(([name, path]) =>
    looks.map((look) => [`${name}, ${lookName(look)}`, path, look] as const),
  )
  test.each(cases)('nothing is wrong with %s', async (_, path, look) => {
    expect(await inspectPage(browser, w.origin + path(), { ...look, cookies })).toEqual([])
  })
})

/** A delivery that was answered 500 three times. */
const ended = {
  status: 'failed',
  attempts: 3,
  nextAt: null,
  httpStatus: 500,
  durationMs: 84,
} as const
