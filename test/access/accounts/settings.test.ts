import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { auditsOf, bodyOf, type SharingWorld, saidTo, sharingWorld } from '../../support/sharing.ts'
import { engines, testAccount } from '../../support/world.ts'
import { type Browser, browser, signInWith, wallet } from './wallet.ts'

const start = Date.UTC(2026, 10, 21, 12)
const page = { accept: 'text/html' }
const form = { ...page, 'content-type': 'application/x-www-form-urlencoded' }
const path = '/api/portal/settings'

describe.each(engines)('the settings of an account on %s', (engine) => {
  let s: SharingWorld
  let own: Browser
  beforeAll(async () => {
    s = await sharingWorld(engine, start)
    own = browser(s.w)
    expect((await signInWith(own)).status).toBe(200)
  }, 30_000)
  afterAll(() => s.w.stop())

  const set = (json: unknown, method = 'PATCH', as = own) => as.call(path, { method, json })
  const post = (body: string, headers: Record<string, string>, as = own) =>
    as.call(path, { method: 'POST', headers: { ...form, ...headers }, body })
  const kept = async () =>
    ((await (await own.call(path)).json()) as { retention: string }).retention
  const textsOf = async (id: string) => {
    const { disclosures } = await s.own(id)
    return [disclosures?.input?.value, disclosures?.output?.value].filter(Boolean)
  }
  const htmlOf = async (address: string, as = own) =>
    (await as.call(address, { headers: page })).text()

  test('401 without a session, and a page leads to the sign-in', async () => {
    const anonymous = browser(s.w)
    for (const answer of [
      await anonymous.call(path),
      await set({ retention: '30d' }, 'PATCH', anonymous),
      await set({ retention: '30d' }, 'POST', anonymous),
    ]) {
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({ error: { type: 'session_required' } })
    }
    for (const address of ['/dashboard/settings', '/dashboard/settings/retention?to=none']) {
      const answer = await anonymous.call(address, { headers: page })
      expect(answer.status).toBe(303)
      expect(answer.headers.get('location')).toStartWith('/signin?next=')
    }
    expect(await kept()).toBe('none')
  })

  test('403 from another origin', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' }
    const answer = await own.call(path, { method: 'PATCH', headers, json: { retention: '30d' } })
    expect(answer.status).toBe(403)
    expect(await kept()).toBe('none')
  })

  test('GET returns the setting; by default no text is kept', async () => {
    expect(await (await own.call(path)).json()).toEqual({
      object: 'settings',
      account: wallet.address,
      retention: 'none',
      keeps_responses: true,
    })
  })

  test('PATCH and POST answer a script in JSON, htmx with the panel, a plain form with the page', async () => {
    const patched = await set({ retention: '24h' })
    expect(patched.status).toBe(200)
    expect(await patched.json()).toMatchObject({ object: 'settings', retention: '24h' })
    const panel = await post('retention=30d', { 'hx-request': 'true' })
    expect(panel.status).toBe(200)
    expect(await panel.text()).toStartWith('<section class="sec" id="retention"')
    expect(await kept()).toBe('30d')
    const plain = await post('retention=24h', {})
    expect([plain.status, plain.headers.get('location')]).toEqual([303, '/dashboard/settings'])
    expect(await kept()).toBe('24h')
    const audited = (await auditsOf(s.w, testAccount)).at(-1)
    expect(audited).toMatchObject({
      actor: testAccount,
      action: 'retention.set',
      detail: { from: '30d', to: '24h' },
    })
  })

  test.each([[{}], [{ retention: '1h' }], [{ retention: 'none', more: 1 }], [{ retention: null }]])(
    '400 for %j, and nothing changes',
    async (json) => {
      const before = await kept()
      expect((await set(json)).status).toBe(400)
      expect(await kept()).toBe(before)
    },
  )

  test('keeping less is asked about with what it deletes; only then it deletes, at once', async () => {
    await set({ retention: '30d' })
    const ids = [await s.ask('first'), await s.ask('second')]
    expect(await textsOf(ids[0] ?? '')).toEqual([bodyOf('first'), saidTo('first')])
    expect(await htmlOf('/dashboard/settings')).toContain('The texts of 2 runs are stored.')

    const shorter = await htmlOf('/dashboard/settings/retention?to=24h')
    expect(shorter).toContain('texts of 2 runs</strong> that would be kept longer')
    const none = await htmlOf('/dashboard/settings/retention?to=none')
    expect(none).toContain('the texts of 2 runs at once')
    expect(none).toContain('Delete the texts of 2 runs</button>')
    expect(await kept()).toBe('30d')

    expect((await post('retention=none', {})).status).toBe(303)
    for (const id of ids) expect(await textsOf(id)).toEqual([])
    expect(await htmlOf('/dashboard/settings')).toContain('No texts are stored.')
  })

  test('what would delete nothing is not asked about', async () => {
    for (const to of ['none', '30d', '']) {
      const asked = await own.call(`/dashboard/settings/retention?to=${to}`, { headers: page })
      if (to === '') expect(asked.status).toBe(400)
      else
        expect([asked.status, asked.headers.get('location')]).toEqual([303, '/dashboard/settings'])
    }
  })

  test('are one account’s own', async () => {
    await set({ retention: '24h' })
    const id = await s.ask('mine')
    const other = browser(s.w)
    await signInWith(other, privateKeyToAccount(generatePrivateKey()))
    expect(await (await set({ retention: 'none' }, 'PATCH', other)).json()).toMatchObject({
      retention: 'none',
    })
    expect(await kept()).toBe('24h')
    expect((await textsOf(id)).length).toBe(2)
    expect(await htmlOf('/dashboard/settings', other)).toContain('No texts are stored.')
  })

  test('the page says who it is, where they are signed in, and in which colours', async () => {
    const second = browser(s.w)
    await signInWith(second)
    second.jar.set('theme', 'dark')
    const html = await htmlOf('/dashboard/settings', second)
    expect(html).toContain(wallet.address)
    expect(html).toMatch(/href="\/dashboard\/sessions">In 2 browsers/)
    expect(html).toMatch(/value="dark" checked/)
  })
})

describe('signing out everywhere else', () => {
  let s: SharingWorld
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
  }, 30_000)
  afterAll(() => s.w.stop())

  test('counts what it ends and names the browsers before it does', async () => {
    const [own, other] = [browser(s.w), browser(s.w)]
    await signInWith(own)
    const alone = await own.call('/dashboard/sessions/others', { headers: page })
    expect([alone.status, alone.headers.get('location')]).toEqual([303, '/dashboard/sessions'])

    await signInWith(other)
    const list = await own.call('/dashboard/sessions', { headers: page })
    expect(await list.text()).toContain('href="/dashboard/sessions/others"')
    const asked = await own.call('/dashboard/sessions/others', { headers: page })
    const html = await asked.text()
    expect(html).toContain('1 session at once')
    expect(html).toContain('Sign out 1 session</button>')
    expect((await other.call('/api/portal/sessions')).status).toBe(200)

    const headers = { ...form, 'content-length': '0' }
    const done = await own.call('/api/portal/sessions/others/revoke', { method: 'POST', headers })
    expect([done.status, done.headers.get('location')]).toEqual([303, '/dashboard/sessions'])
    expect((await other.call('/api/portal/sessions')).status).toBe(401)
    expect((await own.call('/api/portal/sessions')).status).toBe(200)
  })

  test('the list comes to htmx as its panel', async () => {
    const own = browser(s.w)
    await signInWith(own)
    const headers = { 'hx-request': 'true', accept: 'text/html' }
    const answer = await own.call('/api/portal/sessions', { headers })
    expect(await answer.text()).toStartWith('<section class="sec" id="sessions"')
  })
})
