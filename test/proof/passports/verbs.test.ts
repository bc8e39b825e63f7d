import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { auditsOf } from '../../support/sharing.ts'
import { engines, type World, world } from '../../support/world.ts'
import { arrive, ask, countAll, type Person, shown } from './office.ts'

describe.each(engines)('the verbs of a passport on %s', (engine) => {
  let w: World
  let one: Person
  beforeAll(async () => {
    w = await world({ engine })
    one = await arrive(w)
  }, 60_000)
  afterAll(() => w.stop())

  const keyView = async (secret: string) => (await w.call('/v1/keys/self', { key: secret })).json()

  test('a draft is 404, published it is 200, hidden 404, published again 200', async () => {
    await one.post('', { handle: 'wavelet', display_name: 'Wavelet', kind: 'service' })
    expect((await shown(w, 'wavelet')).status).toBe(404)
    expect((await one.post('/wavelet/hide')).body.status).toBe('draft')
    const first = (await one.post('/wavelet/publish')).body
    expect(first.status).toBe('public')
    expect((await shown(w, 'wavelet')).status).toBe(200)
    expect((await one.post('/wavelet/hide')).body.status).toBe('hidden')
    const hidden = await shown(w, 'wavelet')
    expect([hidden.status, hidden.body.error.type]).toEqual([404, 'not_found'])
    const again = (await one.post('/wavelet/publish')).body
    expect(again.published_at).toBe(first.published_at)
    await one.post('/wavelet/publish')
    const told = (await auditsOf(w, 'wavelet')).map(({ action, actor }) => [action, actor])
    expect(told).toEqual(
      ['create', 'publish', 'hide', 'publish'].map((verb) => [`passport.${verb}`, one.account]),
    )
  })

  test('an edit changes what it names, and an audit row says what', async () => {
    await one.publish('mosslight')
    const links = ['https://example.com/a']
    const { status, body } = await one.post('/mosslight', { bio: 'New', links }, 'PATCH')
    expect(status).toBe(200)
    expect(body).toMatchObject({ bio: 'New', links, display_name: 'The mosslight', kind: 'agent' })
    const wrong = await one.post('/mosslight', { handle: 'other' }, 'PATCH')
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'handle'])
    const last = (await auditsOf(w, 'mosslight')).at(-1)
    expect(last?.action).toBe('passport.change')
    expect(last?.detail).toEqual({
      bio: { from: '', to: 'New' },
      links: { from: [], to: links },
    })
  })

  test('a bound key says so at once, and names one passport at most', async () => {
    await one.publish('harbor')
    await one.publish('lagoon')
    const { secret, key } = await one.bound('harbor')
    expect((await keyView(secret)).passport).toBe('harbor')
    expect((await one.post('/lagoon/bind', { key_id: key.id })).body.key_ids).toEqual([key.id])
    const harbor = await one.own.call('/api/portal/passports/harbor')
    expect((await harbor.json()).key_ids).toEqual([])
    expect((await one.post('/harbor/unbind', { key_id: key.id })).status).toBe(200)
    expect((await w.deps.keys.find(key.id))?.passport).toBe('lagoon')
    expect((await one.post('/lagoon/unbind', { key_id: key.id })).body.key_ids).toEqual([])
    await one.post('/lagoon/bind', { key_id: key.id })
    expect((await one.post('/lagoon/bind', { key_id: null })).body.key_ids).toEqual([])
    const told = (await auditsOf(w, key.id)).map(({ action, detail }) => [action, detail])
    expect(told.filter(([action]) => String(action).startsWith('passport.'))).toEqual([
      ['passport.bind', { from: null, to: 'harbor' }],
      ['passport.bind', { from: 'harbor', to: 'lagoon' }],
      ['passport.unbind', { from: 'lagoon', to: null }],
      ['passport.bind', { from: null, to: 'lagoon' }],
      ['passport.unbind', { from: 'lagoon', to: null }],
    ])
  })

  test('404 for another account’s key and for none, 409 for a revoked one', async () => {
    await one.publish('quayside')
    const other = await arrive(w)
    const { key } = await one.bound('quayside')
    await one.own.call(`/api/portal/keys/${key.id}/revoke`, { method: 'POST' })
    expect((await one.post('/quayside/bind', { key_id: other.key.id })).status).toBe(404)
    expect((await one.post('/quayside/bind', { key_id: 'key_nothing' })).status).toBe(404)
    expect((await one.post('/quayside/unbind', {})).status).toBe(400)
    expect((await one.post('/quayside/bind', { key_id: key.id })).body.error.type).toBe('conflict')
    expect((await w.deps.keys.find(other.key.id))?.passport).toBe('')
  })

  test('the receipt of a bound key’s run carries the handle, and that of another none', async () => {
    await one.publish('eddy-line')
    const { secret } = await one.bound('eddy-line')
    const [named, unnamed] = [await ask(w, secret), await ask(w, one.secret)]
    const handleIn = async (id: string, key: string) =>
      (await (await w.call(`/v1/receipts/${id}`, { key })).json()).receipt.passport.handle
    expect(await handleIn(named, secret)).toBe('eddy-line')
    expect(await handleIn(unnamed, one.secret)).toBe('')
  })

  test('a retired one is gone for ever, to everybody, and its handle with it', async () => {
    await one.publish('sandbank')
    const { secret, key } = await one.bound('sandbank')
    await ask(w, secret)
    await countAll(w)
    const retired = await one.post('/sandbank/retire')
    expect(retired.body).toMatchObject({ status: 'retired', key_ids: [] })
    expect((await w.deps.keys.find(key.id))?.passport).toBe('')
    const gone = await shown(w, 'sandbank')
    expect([gone.status, gone.body.error.type]).toEqual([410, 'gone'])
    for (const verb of ['publish', 'hide', 'retire', 'statement', 'bind']) {
      const { status } = await one.post(
        `/sandbank/${verb}`,
        verb === 'bind' ? { key_id: key.id } : {},
      )
      expect([verb, status]).toEqual([verb, 410])
    }
    expect((await one.post('/sandbank', { bio: 'x' }, 'PATCH')).status).toBe(410)
    for (const handle of ['sandbank', 'sand-bank', 'sand8ank']) {
      const claim = { handle, display_name: 'Again', kind: 'agent' }
      expect((await one.post('', claim)).status).toBe(409)
    }
    expect((await shown(w, 'sandbank')).status).toBe(410)
    const page = await w.call('/passports/sandbank', { headers: { accept: 'text/html' } })
    expect(page.status).toBe(410)
    const listed = await (await w.call('/v1/passports?limit=100')).json()
    expect(listed.data.some(({ handle }: { handle: string }) => handle === 'sandbank')).toBe(false)
    // Its key goes on without it.
    const id = await ask(w, secret)
    const file = await (await w.call(`/v1/receipts/${id}`, { key: secret })).json()
    expect(file.receipt.passport.handle).toBe('')
  })

  test('binding while it is retired leaves no key that names it', async () => {
    await one.publish('brackish')
    const made = await Promise.all([1, 2, 3, 4].map(() => w.key({ account: one.account })))
    await Promise.all([
      ...made.map(({ key }) => one.post('/brackish/bind', { key_id: key.id })),
      one.post('/brackish/retire'),
    ])
    const found = await Promise.all(made.map(({ key }) => w.deps.keys.find(key.id)))
    expect(found.map((key) => key?.passport)).toEqual(['', '', '', ''])
  })
})
