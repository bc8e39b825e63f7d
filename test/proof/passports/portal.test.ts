import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { browser } from '../../access/accounts/wallet.ts'
import { type World, world } from '../../support/world.ts'
import { arrive, type Person } from './office.ts'

const page = { accept: 'text/html' }
const htmx = { 'hx-request': 'true', accept: 'text/html' }

describe('the dashboard’s passports', () => {
  let w: World
  let one: Person
  beforeAll(async () => {
    w = await world()
    one = await arrive(w)
  })
  afterAll(() => w.stop())

  const form = async (path: string, fields: Record<string, string>, headers = page) => {
    const answer = await one.own.call(`/api/portal/passports${path}`, {
      method: 'POST',
      body: String(new URLSearchParams(fields)),
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    })
    const { status } = answer
    return { status, to: answer.headers.get('location'), html: await answer.text() }
  }
  const fields = (handle: string) => ({
    handle,
    display_name: 'By a form',
    kind: 'service',
    bio: 'One\r\ntwo',
    links: 'https://example.com/a\r\nhttps://example.com/b',
    show_owner_from: 'form',
  })

  test('303 to the new passport after a plain form, with its links one a line', async () => {
    const made = await form('', { ...fields('formed'), show_owner: 'true' })
    expect([made.status, made.to]).toEqual([303, '/dashboard/passports/formed'])
    expect(await w.deps.passports.find('formed')).toMatchObject({
      displayName: 'By a form',
      kind: 'service',
      bio: 'One\ntwo',
      links: ['https://example.com/a', 'https://example.com/b'],
      ownerShown: true,
    })
  })

  test('the form again with what is wrong, and with what was typed', async () => {
    const refused = await form('', fields('admin'))
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('Nothing was created.')
    expect(refused.html).toContain('The handle admin is reserved')
    expect(refused.html).toContain('value="By a form"')
    expect((await form('', fields('formed'))).status).toBe(409)
  })

  test('an edit by a form changes a box that is empty, and htmx gets the part that changed', async () => {
    const { handle: _, ...rest } = fields('formed')
    const saved = await form('/formed', { ...rest, bio: 'Other' }, htmx)
    expect(saved.status).toBe(200)
    expect(saved.html.startsWith('<div class="stack wide" id="passport">')).toBe(true)
    expect(await w.deps.passports.find('formed')).toMatchObject({ bio: 'Other', ownerShown: false })
    const wrong = await form('/formed', { ...rest, links: 'http://example.com' }, htmx)
    expect(wrong.status).toBe(400)
    expect(wrong.html).toContain('Each link is a whole https address')
    expect(wrong.html.startsWith('<div class="stack wide" id="passport">')).toBe(true)
    const plain = await form('/formed', rest)
    expect([plain.status, plain.to]).toEqual([303, '/dashboard/passports/formed'])
  })

  test('a key is bound and unbound by a form; an empty field unbinds all', async () => {
    const bound = await form('/formed/bind', { key_id: one.key.id })
    expect([bound.status, bound.to]).toEqual([303, '/dashboard/passports/formed'])
    expect((await w.deps.keys.find(one.key.id))?.passport).toBe('formed')
    expect((await form('/formed/bind', { key_id: '' })).status).toBe(303)
    expect((await w.deps.keys.find(one.key.id))?.passport).toBe('')
    const foreign = await form('/formed/bind', { key_id: 'key_x' }, htmx)
    expect(foreign.status).toBe(404)
    expect(foreign.html).toContain('There is no such key.')
  })

  test('what retiring ends is counted before, done once, and its page says so', async () => {
    await form('/formed/bind', { key_id: one.key.id })
    const ask = async () => one.own.call('/dashboard/passports/formed/retire', { headers: page })
    expect(await (await ask()).text()).toContain('1 key is unbound.')
    const ended = await form('/formed/retire', {})
    expect([ended.status, ended.to]).toEqual([303, '/dashboard/passports/formed'])
    expect((await ask()).status).toBe(303)
    const again = await form('/formed/retire', {})
    expect(again.status).toBe(410)
    const own = await one.own.call('/dashboard/passports/formed', { headers: page })
    expect(await own.text()).toContain('@formed is retired.')
  })

  test('the list in JSON, as a fragment, and by page', async () => {
    for (const handle of ['list-one', 'list-two']) {
      await one.post('', { handle, display_name: handle, kind: 'agent' })
      // Ids of one millisecond have no order.
      await Bun.sleep(2)
    }
    const first = await (await one.own.call('/api/portal/passports?limit=1')).json()
    expect(first).toMatchObject({ object: 'list', has_more: true })
    expect(first.data[0]).toMatchObject({ handle: 'list-two', status: 'draft', key_ids: [] })
    const next = `/api/portal/passports?limit=1&after=${first.last_id}`
    expect((await (await one.own.call(next)).json()).data[0].handle).toBe('list-one')
    const fragment = await one.own.call('/api/portal/passports', { headers: htmx })
    expect(await fragment.text()).toStartWith('<section class="sec" id="passports"')
    const other = await arrive(w)
    const foreign = await other.own.call(next)
    expect([foreign.status, (await foreign.json()).error.param]).toEqual([400, 'after'])
    expect((await (await other.own.call('/api/portal/passports')).json()).data).toEqual([])
  })

  test('303 from its pages to the sign-in without a session', async () => {
    for (const path of ['/dashboard/passports', '/dashboard/passports/list-one']) {
      const answer = await browser(w).call(path, { headers: page })
      expect(answer.status).toBe(303)
      expect(answer.headers.get('location')).toStartWith('/signin?next=')
    }
  })

  test('403 csrf_failed from another origin', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' }
    const answer = await one.own.call('/api/portal/passports/list-one/publish', {
      json: {},
      headers,
    })
    expect([answer.status, (await answer.json()).error.type]).toEqual([403, 'csrf_failed'])
  })
})
