import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { toHex } from '../../../src/kernel/hex.ts'
import { receiptIdOf } from '../../../src/proof/receipts/receipt.ts'
import { upsert } from '../../../src/storage/db/sql/query-steps.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { follow } from '../../support/live.ts'
import { lastRun, pricedBuiltins } from '../../support/runs.ts'
import { auditsOf } from '../../support/sharing.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'

// Three engines on a busy machine.
setDefaultTimeout(30_000)

const json = { accept: 'application/json' }
const html = { accept: 'text/html' }
const evil = '<script>alert(1)</script>'
/** The second well-known test account. */
const stranger = privateKeyToAccount(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
)

for (const engine of engines) {
  describe(`the overview, on ${engine}`, () => {
    let w: World
    let own: Browser

    beforeAll(async () => {
      w = await world({ engine, toml: pricedBuiltins })
      own = browser(w)
      await signInWith(own)
    })
    afterAll(() => w?.stop())

    const run = (key: { secret: string }) => {
      const messages = [{ role: 'user', content: 'hello there' }]
      const body = { model: 'counterfoil/echo-1', messages }
      return w.call('/v1/chat/completions', { key: key.secret, json: body })
    }
    const page = async () => (await own.call('/dashboard', { headers: html })).text()
    const view = async () => (await own.call('/api/portal/overview', { headers: json })).json()

    test('an account without anything is told the five steps and who grants credit', async () => {
      const text = await page()
      expect(text).toContain('1 of 5 done')
      expect(text).toContain('the operator of this server grants it')
      expect(text).toContain('No runs yet')
      expect(text).toContain('No keys yet')
      expect(await view()).toMatchObject({ balance_nusd: 0, alerts: [], onboarding: { done: 1 } })
    })

    test('credit, a key and a run are steps; what is spent stands in the chart', async () => {
      const key = await w.key({ name: evil, balance: 5n * usd })
      expect((await view()).onboarding).toEqual({ done: 3 })
      expect((await run(key)).status).toBe(200)
      const seen = await view()
      expect(seen).toMatchObject({ onboarding: { done: 4 }, spend_days: 30 })
      expect(seen.balance_nusd + seen.spent_nusd).toBe(5_000_000_000)
      expect(seen.spent_nusd).toBeGreaterThan(0)
      expect(seen.recent_runs.length).toBe(1)
      const text = await page()
      expect(text).toContain(`/receipts/${receiptIdOf((await lastRun(w)).id)}`)
      expect(text).toContain(Bun.escapeHTML(evil))
      expect(text).not.toContain(evil)
    })

    test('a key near its cap and one near its end are told, with what to do', async () => {
      const now = w.deps.clock.now()
      const small = await w.key({ name: 'nearly', capLimit: 5_000n })
      await w.key({ name: 'short', expiresAt: now + 86_400_000 })
      await run(small)
      const { alerts } = await view()
      const kinds = alerts.map(({ type }: { type: string }) => type)
      expect(kinds.filter((kind: string) => kind !== 'cap_near')).toEqual(['key_expires'])
      const text = await page()
      expect(text.replace(/<\/?time[^>]*>/g, '')).toContain('short expires in 23 h')
      expect(text).toContain(`href="/dashboard/keys/${alerts.at(0)?.key_id}"`)
    })

    test('a log that diverged is told first', async () => {
      w.deps.health.log = 'diverged'
      expect((await view()).alerts[0]).toEqual({ type: 'log_diverged', key_id: null })
      expect(await page()).toContain('is missing signed receipts')
      w.deps.health.log = 'unchecked'
    })

    test('another account sees nothing about it', async () => {
      const guest = browser(w)
      await signInWith(guest, stranger)
      const seen = await (await guest.call('/api/portal/overview', { headers: json })).json()
      expect(seen).toMatchObject({ balance_nusd: 0, spent_nusd: 0, recent_runs: [], alerts: [] })
    })

    describe('GET /api/portal/overview/live', () => {
      test('brings the newest runs and the balance when a run ends', async () => {
        const key = await w.key({ name: 'live' })
        const text = await page()
        const [, path = ''] = /hx-sse:connect="([^"]+)"/.exec(text) ?? []
        const live = await follow(w, own, path.replaceAll('&amp;', '&'))
        await run(key)
        const { id } = await lastRun(w)
        let message = await live.next()
        // It may be seen in flight first.
        if (message && !message.html.includes(receiptIdOf(id))) message = await live.next()
        live.close()
        expect(message?.html).toContain(receiptIdOf(id))
        expect(message?.html).toContain('<hx-partial hx-target="#balance"')
        const again = await follow(w, own, path, { 'last-event-id': message?.id ?? '' })
        await run(key)
        expect((await again.next())?.html).not.toBe(message?.html)
        again.close()
      })

      test('what another process writes is seen within the poll', async () => {
        const live = await follow(w, own, '/api/portal/overview/live')
        const before = await live.next()
        const { accounts } = w.db.tables
        const account = await w.deps.accounts.find(testAccount)
        if (!account) throw new Error('there is no account')
        const more = { ...account, balance: account.balance + 7n * usd }
        await w.db.write(() => upsert(accounts, [more], ['balance']))
        expect((await live.next())?.html).not.toBe(before?.html)
        live.close()
      })
    })

    describe('POST /api/portal/overview/verify', () => {
      const verify = (who: Browser, runId: unknown, more: object = {}) =>
        who.call('/api/portal/overview/verify', { json: { run_id: runId, ...more }, headers: json })

      test('404 for a run of another account; 400 for what is no id', async () => {
        const guest = browser(w)
        await signInWith(guest, stranger)
        expect((await verify(guest, (await lastRun(w)).id)).status).toBe(404)
        expect((await verify(own, 'nonsense')).status).toBe(400)
        expect((await verify(own, 7)).status).toBe(400)
      })

      test('a browser that checked another digest ticks nothing', async () => {
        const { id } = await lastRun(w)
        const answer = await verify(own, id, { digest: `0x${'0'.repeat(64)}` })
        expect(answer.status).toBe(422)
        expect((await view()).onboarding).toEqual({ done: 4 })
      })

      test('the page of the receipt asks for the check until one is noted', async () => {
        const { id } = await lastRun(w)
        const shown = await (await own.call(`/dashboard/receipts/${receiptIdOf(id)}`)).text()
        expect(shown).toContain(`data-awaited="${id}"`)
        expect(shown).toContain('Accept the server’s check')
      })

      test('notes what the browser checked, or else the server: the steps are done', async () => {
        const { id, digest } = await lastRun(w)
        const checked = { digest: toHex(digest ?? new Uint8Array()) }
        expect(await (await verify(own, id, checked)).json()).toEqual({ verified: true })
        const [note] = await auditsOf(w, receiptIdOf(id))
        expect(note?.detail).toMatchObject({ by: 'browser' })
        const form = await own.call('/api/portal/overview/verify', {
          method: 'POST',
          headers: { ...html, 'content-type': 'application/x-www-form-urlencoded' },
          body: `run_id=${id}`,
        })
        expect([form.status, form.headers.get('location')]).toEqual([
          303,
          `/receipts/${receiptIdOf(id)}`,
        ])
        expect((await auditsOf(w, receiptIdOf(id))).length).toBe(1)
        expect((await view()).onboarding).toBeNull()
        const after = await (await own.call(`/dashboard/receipts/${receiptIdOf(id)}`)).text()
        expect(after).not.toContain('data-awaited')
        expect(await page()).not.toContain('Get your first receipt')
      })
    })

    describe('without a session', () => {
      test.each([
        ['GET', '/api/portal/overview'],
        ['GET', '/api/portal/overview/live'],
        ['POST', '/api/portal/overview/verify'],
      ])('401 session_required: %s %s', async (method, path) => {
        const answer = await w.call(path, { method, headers: json })
        expect(answer.status).toBe(401)
      })
    })
  })
}

test('anyone who can deposit is told that instead of asking the operator', async () => {
  const chain = '[chain]\nrpc_urls = ["http://127.0.0.1:9"]\n'
  const taking = await world({ toml: `${chain}treasury = "${stranger.address}"\n` })
  const other = browser(taking)
  await signInWith(other)
  const text = await (await other.call('/dashboard', { headers: html })).text()
  expect(text).toContain('send a deposit from your wallet')
  expect(text).toContain('href="/dashboard/deposits"')
  expect(text).not.toContain('operator of this server grants')
  await taking.stop()
})
