import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openSecret, sealSecret } from '../../../src/access/keys/portal/brief-secret.tsx'
import { promise } from '../../support/promise.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'
import { errorIn, hiddenIn, type Own, secretIn, signedIn } from './own.ts'

const now = Date.UTC(2026, 6, 15, 12)
const path = '/dashboard/keys'
const blankPath = `${path}/new`
const api = '/api/portal/keys'

let w: World
let own: Own
beforeAll(async () => {
  w = await world({ now })
  own = await signedIn(w)
}, 30_000)
afterAll(() => w.stop())

const countOf = async (who: Own) => (await who.get(`${api}?limit=100`)).data.length
const keyOf = (wish: Parameters<World['key']>[0] = {}) =>
  w.key({ account: own.account, name: 'agent', capLimit: 5n * usd, ...wish })

describe('the form of a new key', () => {
  test('201: answers the page with the secret in its box and in the block to paste, and nowhere else in it', async () => {
    const blank = await (await own.page(blankPath)).text()
    const fields = { name: 'crawler', cap: '$2.5', window: 'day', once: hiddenIn(blank, 'once') }
    const before = await countOf(own)
    const answer = await own.send(api, fields)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store'])
    const html = await answer.text()
    const secret = secretIn(html) ?? ''
    expect(html.split(secret).length).toBe(3)
    expect(/<title>(.*)<\/title>/.exec(html)?.[1]).toBe('New secret · Counterfoil')
    expect(html).toContain('I have stored it somewhere safe')
    expect(html).toMatch(new RegExp(`id="n-dashboard-keys">${before + 1}<`))
    expect(html).toContain(`export OPENAI_BASE_URL=${w.origin}/v1\n`)
    expect(html).toContain('counterfoil/echo-1')
    expect((await w.call('/v1/keys/self', { key: secret })).status).toBe(200)
    expect(await countOf(own)).toBe(before + 1)

    // What a reload sends.
    const again = await own.send(api, fields)
    expect(again.status).toBe(303)
    const to = again.headers.get('location') ?? ''
    expect(to).toMatch(/^\/dashboard\/keys\/key_\w+\?again=1$/)
    const shown = await (await own.page(to)).text()
    expect(shown).toContain('This form was already sent.')
    expect(shown).not.toContain('sk-service-')
    expect(await countOf(own)).toBe(before + 1)
    expect(await (await own.page(path)).text()).not.toContain('sk-service-')
  })

  test('sent twice at the same time it makes one key', async () => {
    const who = await signedIn(w)
    const once = hiddenIn(await (await who.page(blankPath)).text(), 'once')
    const fields = { name: 'twice', cap: '1', once }
    const answers = await Promise.all([1, 2, 3].map(() => who.send(api, fields)))
    const secrets = await Promise.all(answers.map(async (one) => secretIn(await one.text())))
    expect(secrets.filter((secret) => secret !== undefined).length).toBe(1)
    expect(await countOf(who)).toBe(1)
  })

  test('The form token of another account makes another key; an expired token makes none', async () => {
    const who = await signedIn(w)
    const once = hiddenIn(await (await own.page(blankPath)).text(), 'once')
    expect((await own.send(api, { name: 'mine', cap: '1', once })).status).toBe(201)
    expect((await who.send(api, { name: 'theirs', cap: '1', once })).status).toBe(201)
    for (const bad of [
      'x',
      '',
      `${now - 86_400_001}.0000000000000000`,
      '9999999999999.0000000000000000',
    ]) {
      const answer = await who.send(api, { name: 'n', cap: '1', once: bad })
      expect(answer.status).toBe(409)
      expect(await answer.text()).toContain('The form has expired and no key was created.')
    }
    expect(await countOf(who)).toBe(1)
  })

  test('a browser is sent to the page of the secret, which shows it once and to one session', async () => {
    const fields = { name: 'navigated', cap: '1' }
    const answer = await own.navigate(api, fields)
    const to = answer.headers.get('location') ?? ''
    expect([answer.status, await answer.text()]).toEqual([303, ''])
    expect(to).toMatch(/^\/dashboard\/keys\/key_\w+\/secret$/)
    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).toContain(`; Max-Age=60; Path=${to}; HttpOnly; SameSite=Strict`)
    expect(cookie).not.toContain('sk-service-')

    const stranger = await signedIn(w)
    expect((await stranger.page(to)).status).toBe(404)
    const first = await own.page(to)
    expect(first.headers.getSetCookie().join()).toContain(`Max-Age=0`)
    const secret = secretIn(await first.text()) ?? ''
    expect((await w.call('/v1/keys/self', { key: secret })).status).toBe(200)
    const second = await (await own.page(to)).text()
    expect(second).toContain('The secret was shown.')
    expect(second).not.toContain('sk-service-')
  })

  promise`A2`
  test('the cookie of a secret opens for its session and key alone, for a minute', () => {
    const sent = { secret: 'sk-service-x', by: 'create' } as const
    const place = { session: 'sess_1', id: 'key_1' }
    const sealed = sealSecret(w.deps, place, sent)
    expect(openSecret(w.deps, place, sealed)).toEqual(sent)
    for (const other of [{ session: 'sess_2' }, { id: 'key_2' }]) {
      expect(openSecret(w.deps, { ...place, ...other }, sealed)).toBeUndefined()
    }
    for (const other of [`A${sealed}`, '', 'x', sealed.slice(0, -4)]) {
      expect(openSecret(w.deps, place, other)).toBeUndefined()
    }
    const late = { ...w.deps, clock: { ...w.deps.clock, now: () => now + 60_001 } }
    expect(openSecret(late, place, sealed)).toBeUndefined()
  })

  test('a form that a browser sends again leads to the page of the secret', async () => {
    const once = hiddenIn(await (await own.page(blankPath)).text(), 'once')
    const fields = { name: 'again', cap: '1', once }
    const first = await own.navigate(api, fields)
    const again = await own.navigate(api, fields)
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
  })

  test('htmx gets the same page without what surrounds it', async () => {
    const answer = await own.swap(api, { name: 'swapped', cap: '1' }, blankPath)
    expect(answer.status).toBe(201)
    const html = await answer.text()
    expect(html).toMatch(/^<nav class="path"/)
    expect(answer.headers.get('hx-push-url')).toMatch(/^\/dashboard\/keys\/key_\w+\/secret$/)
    expect(html).toContain('<title>New secret · Counterfoil</title>')
    expect(secretIn(html)).toBeDefined()
  })

  const soon = Date.UTC(2026, 7, 1)
  const wrong: [field: string, value: string, words: string][] = [
    ['name', '', 'Enter a name.'],
    ['name', 'x'.repeat(65), 'Send a name of 1 to 64 characters'],
    ['cap', '', 'Enter an amount in USD, such as 5.00.'],
    ['cap', '1,5', 'Enter an amount in USD, such as 5.00.'],
    ['cap', '0', 'Enter an amount in USD, such as 5.00.'],
    ['cap', '5.000000001', 'The parent’s cap is $5.00. Enter at most that.'],
    ['parent_id', 'key_none', 'There is no such parent key.'],
    ['window', 'year', 'Choose one of: lifetime, day, week, month.'],
    ['expires', '30d', 'The parent expires on Aug 1, 2026 at the latest. Choose an earlier day.'],
    ['expires', 'soon', 'Enter a day as 2027-01-31, or a number of days.'],
    ['expires_on', '2026-07-14', 'Choose a day in the future.'],
    [
      'expires_on',
      '2026-08-02',
      'The parent expires on Aug 1, 2026 at the latest. Choose an earlier day.',
    ],
    ['models', 'a b\u00fc', 'At most 64 models, each an id or a glob such as acme/*.'],
    ['ip_cidrs', '10.0.0.0/99', 'At most 64 addresses or networks such as 10.0.0.0/8.'],
    ['scopes', 'all', 'Choose from: runs:write'],
    ['tags', 'team', 'Enter one tag a line, such as team=search.'],
    ['tags', 'a=1\na=2', 'Give each tag a different name.'],
    ['rpm', '0', 'Enter a whole number, or leave it empty for no limit.'],
    ['max_cost_per_run', 'x', 'Enter an amount in USD, such as 5.00.'],
  ]

  test.each(wrong)(
    '400: %s "%s" is said at the field, and what was typed stays',
    async (field, value, words) => {
      const parent = await keyOf({ expiresAt: soon })
      const before = await countOf(own)
      const fields = {
        name: 'kept',
        cap: '1',
        expires: '1d',
        parent_id: parent.key.id,
        [field]: value,
      }
      const shown = field === 'window' ? 'window' : field
      for (const how of [own.send, own.swap]) {
        const answer = await how(api, fields)
        expect(answer.status).toBe(400)
        const html = await answer.text()
        expect(errorIn(html, `create-${shown}`)).toStartWith(words.replaceAll('"', '&quot;'))
        expect(html).toContain('Nothing was created.')
        if (field !== 'name') expect(html).toContain('name="name" type="text" value="kept"')
        expect(html).not.toContain('sk-service-')
      }
      expect(await countOf(own)).toBe(before)
    },
  )

  test('400: a field that it does not know, which no place is for, is said above', async () => {
    const answer = await own.send(api, { name: 'n', cap: '1', account: testAccount })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('This form does not have this field.')
  })

  test('a day counts whole, and on the parent’s last one ends with the parent', async () => {
    const ends = Date.UTC(2026, 7, 1, 9)
    const parent = await keyOf({ expiresAt: ends })
    const endsAt = async (fields: Record<string, string>) => {
      const answer = await own.call(api, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ name: 'n', cap: '1', ...fields }).toString(),
      })
      return (await answer.json()).expires_at
    }
    expect(await endsAt({ expires_on: '2026-07-20' })).toBe('2026-07-21T00:00:00.000Z')
    expect(await endsAt({ expires: '1d', expires_on: '2026-07-20' })).toBe(
      '2026-07-21T00:00:00.000Z',
    )
    expect(await endsAt({ expires: '2026-07-20' })).toBe('2026-07-21T00:00:00.000Z')
    expect(await endsAt({ expires_on: '2026-08-01', parent_id: parent.key.id })).toBe(
      new Date(ends).toISOString(),
    )
    expect(await endsAt({ parent_id: parent.key.id })).toBe(new Date(ends).toISOString())
  })
})
