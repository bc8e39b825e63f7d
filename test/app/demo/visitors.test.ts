import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { crowdAt } from '../../../drills/demo-visitor.ts'
import { browser, signInWith, wallet } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { keyOf, runOf, type SmallDemo, smallDemo } from './demo.ts'

setDefaultTimeout(120_000)
const html = { accept: 'text/html' }

describe('a demonstration', () => {
  let demo: SmallDemo
  beforeAll(async () => {
    demo = await smallDemo({ visitors: { all: 200, each: 30 } })
  }, 120_000)
  afterAll(() => demo?.end())

  test('its books balance, and it has a month of runs of several models', async () => {
    const { deps } = demo.current()
    expect(await deps.audits.whole(deps.clock.now())).toEqual([])
    const stats = await (await demo.call('/v1/explorer/stats?window=all')).json()
    expect(stats.receipts).toBeGreaterThan(5)
    expect((await (await demo.call('/v1/passports')).json()).data.length).toBe(3)
  })

  test('a visitor signs in by a wallet of the server and has $5 of demo money', async () => {
    const visitor = await demo.visitor()
    expect([visitor.answer.status, visitor.answer.headers.get('location')]).toEqual([
      303,
      '/dashboard',
    ])
    const { account } = await (await visitor.call('/api/auth/session')).json()
    const row = await demo.current().deps.accounts.find(account.toLowerCase())
    expect(row?.balance).toBe(5_000_000_000n)
  })

  test('a real wallet gets the same credit, once', async () => {
    const own = browser(demo)
    expect((await signInWith(own)).status).toBe(200)
    expect((await signInWith(browser(demo))).status).toBe(200)
    const row = await demo.current().deps.accounts.find(wallet.address.toLowerCase())
    expect(row?.balance).toBe(5_000_000_000n)
  })

  test('every page says when all of it is deleted, without a script', async () => {
    const visitor = await demo.visitor('198.51.100.2')
    const hour = new Date(demo.current().deps.demo?.resetsAt ?? 0).toISOString().slice(11, 16)
    for (const path of ['/', '/signin?next=%2F', '/explorer', '/dashboard', '/dashboard/nowhere']) {
      const own = path.startsWith('/signin') ? browser(demo) : visitor
      const page = await (await own.call(path, { headers: html })).text()
      const banner = /<aside class="demo".*?<\/aside>/s.exec(page)?.[0]
      expect([path, banner]).toEqual([path, expect.stringContaining(`${hour} UTC`)])
      expect(banner).toContain('no real money')
    }
  })

  promise`R1 H: No visitor of serve --demo sees things of another, also while it is reset.`
  test('no visitor sees a thing of another', async () => {
    const [ada, eve] = [await demo.visitor('203.0.113.1'), await demo.visitor('203.0.113.2')]
    const key = await keyOf(ada, 'mine alone')
    const other = await keyOf(eve, 'of eve')
    const run = await (await runOf(demo, key.secret, { tags: { task: 'secret task' } })).json()
    const receipt = run.id.replace('run_', 'rcpt_')
    const passport = { handle: 'only-mine', display_name: 'Only Mine', kind: 'person' }
    expect((await ada.call('/api/portal/passports', { json: passport })).status).toBe(201)
    expect((await ada.call(`/dashboard/runs/${run.id}`, { headers: html })).status).toBe(200)

    for (const path of [
      `/dashboard/runs/${run.id}`,
      `/dashboard/keys/${key.id}`,
      `/dashboard/receipts/${receipt}`,
      '/dashboard/passports/only-mine',
      `/api/portal/runs/${run.id}`,
      `/api/portal/keys/${key.id}`,
      `/v1/receipts/${receipt}`,
    ]) {
      expect([path, (await eve.call(path, { headers: html })).status]).toEqual([path, 404])
    }
    const asked = { key: other.secret }
    expect((await demo.call(`/v1/runs/${run.id}`, asked)).status).toBe(404)
    const pages = ['', '/runs', '/keys', '/receipts', '/usage', '/passports', '/sessions']
    for (const page of [
      ...pages.map((one) => `/dashboard${one}`),
      '/explorer',
      '/passports',
      '/',
    ]) {
      const text = await (await eve.call(page, { headers: html })).text()
      for (const word of ['mine alone', 'secret task', run.id, receipt, 'Only Mine']) {
        expect([page, word, text.includes(word)]).toEqual([page, word, false])
      }
    }
  })

  promise`R3`
  test('no visitor has pages of an operator, and none sends webhooks', async () => {
    const visitor = await demo.visitor('198.51.100.3')
    expect((await visitor.call('/dashboard/admin', { headers: html })).status).toBe(404)
    const json = { url: 'https://example.com/hook' }
    const answer = await visitor.call('/api/portal/webhooks', { json })
    expect([answer.status, (await answer.json()).error.message]).toEqual([
      409,
      'This demo sends nothing: webhooks are off.',
    ])
  })

  promise`R1`
  promise`R2 H: A reset of the demonstration deletes all data, ends open streams whole, and tells
    sessions and keys of before what became of them.`
  test('a reset under load of 20 visitors loses no page and shows no thing of another', async () => {
    const before = demo.current()
    let end = Number.POSITIVE_INFINITY
    const isOver = () => performance.now() > end
    const streams = streamsOf(demo, isOver)
    const crowd = crowdAt(demo.url, { visitors: 20, pauseMs: 250, isOver })
    await Bun.sleep(3000)
    await demo.reset()
    const at = performance.now()
    end = at + 8000
    expect(demo.current()).not.toBe(before)
    const seen = await crowd
    expect(seen.faults).toEqual([])
    // All but those who were between two sessions when it came.
    expect(seen.resets).toBeGreaterThanOrEqual(15)
    expect(seen.pages).toBeGreaterThan(100)
    expect(seen.probes).toBeGreaterThan(0)
    const open = (await streams).filter(({ begun, ended }) => begun < at && at < ended)
    expect(open.length).toBeGreaterThan(0)
    // Whole, or with the word of a model that breaks off as some do.
    const cut = open.filter(({ text }) => !/data: (\[DONE\]|\{"error")/.test(text))
    expect(cut).toEqual([])
    expect(demo.errors).toEqual([])
    // The data of before are gone.
    for (let tries = 0; tries < 100 && readdirSync(demo.folder).length > 1; tries++) {
      await Bun.sleep(100)
    }
    expect(readdirSync(demo.folder)).toEqual(['2'])
  })

  promise`R2`
  test('after a reset a page sends to the sign-in, and a key is refused, both saying why', async () => {
    const visitor = await demo.visitor('198.51.100.4')
    const { secret } = await keyOf(visitor)
    await demo.reset()
    const answer = await visitor.call('/dashboard/keys', { headers: html })
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/signin?next=%2Fdashboard%2Fkeys',
    ])
    const page = await (await visitor.call('/signin', { headers: html })).text()
    expect(page).toMatch(/The demo was reset at <time [^>]*>\d\d:\d\d UTC<\/time>/)
    expect(page).toContain('Sign in as a new visitor.')
    const refused = await demo.call('/v1/keys/self', { key: secret })
    expect([refused.status, (await refused.json()).error.message]).toEqual([
      401,
      expect.stringMatching(/The demo was reset at \d\d:\d\d UTC: what was before is gone\.$/),
    ])
  })

  promise`R2`
  test('it resets by the clock, and a stop deletes everything', async () => {
    const own = await smallDemo({}, 4000)
    const first = own.current()
    for (let tries = 0; tries < 600 && own.current() === first; tries++) await Bun.sleep(100)
    expect(own.current()).not.toBe(first)
    await own.stop(0)
    expect(readdirSync(own.folder)).toEqual([])
    await own.end()
    expect(existsSync(own.folder)).toBe(false)
  })
})

type Streamed = { begun: number; ended: number; text: string }

/** Streams of one visitor, four at a time, until the key is refused or it is over. */
async function streamsOf(demo: SmallDemo, isOver: () => boolean): Promise<Streamed[]> {
  const { secret } = await keyOf(await demo.visitor('198.51.100.9'))
  const messages = [{ role: 'user', content: 'Group these tickets.' }]
  const json = { model: 'acme/small', messages, max_tokens: 400, stream: true }
  const all: Streamed[] = []
  const one = async (): Promise<void> => {
    while (!isOver()) {
      const begun = performance.now()
      const answer = await demo.call('/v1/chat/completions', { key: secret, json })
      const text = await answer.text()
      if (answer.status === 401) return
      if (answer.ok) all.push({ begun, ended: performance.now(), text })
    }
  }
  await Promise.all([one(), one(), one(), one()])
  return all
}
