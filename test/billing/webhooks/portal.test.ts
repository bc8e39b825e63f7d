import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { deliverer } from '../../../src/billing/webhooks/deliver.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { jsonOf, member, type Person, person } from '../../access/members/people.ts'
import { errorType } from '../../docs/answers.ts'
import { until } from '../../support/runs.ts'
import { type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

const api = '/api/portal/webhooks'
const url = 'https://example.com/hooks/counterfoil'
const page = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }

describe('the dashboard’s webhooks', () => {
  let w: World
  let owner: Person
  beforeAll(async () => {
    w = await world({})
    owner = await person(w)
  })
  afterAll(() => w.stop())

  const send = (path: string, json: object, method = 'POST', who = owner) =>
    who.own.call(path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(json),
    })
  const form = (path: string, fields: Record<string, string>, headers = page) =>
    owner.own.call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(fields).toString(),
    })
  const read = async (path: string) => {
    const answer = await owner.own.call(path, { headers: page })
    return { status: answer.status, text: await answer.text() }
  }

  test('A form makes a webhook and its page shows the secret once.', async () => {
    expect((await read('/dashboard/webhooks')).text).toContain('No webhooks yet')
    const fields = { url, events_from: 'boxes', 'event.balance.low': 'true', description: 'books' }
    const answer = await form(api, fields)
    expect(answer.status).toBe(303)
    const path = answer.headers.get('location') ?? ''
    expect(path).toMatch(/^\/dashboard\/webhooks\/whk_\w{26}\/secret$/)
    expect((await read(path)).text).toMatch(/whsec_[\w+/=]{20,}/)
    const again = await read(path)
    expect(again.text).not.toContain('whsec_')
    expect(again.text).toContain('The secret was shown.')
    const { data } = await jsonOf(owner.own.call(api))
    expect(data[0]).toMatchObject({ url, events: ['balance.low'], description: 'books' })
    expect((await read('/dashboard/webhooks')).text).toContain('books')
  })

  test('What is wrong in a form stands at its field, and nothing is made.', async () => {
    const before = (await jsonOf(owner.own.call(api))).data.length
    const wrong = await form(api, { url: 'http://127.0.0.1/x', events_from: 'boxes' })
    const text = await wrong.text()
    expect(wrong.status).toBe(400)
    expect(text).toContain('id="create-events-error"')
    expect(text).toContain('Choose at least one event.')
    const local = await form(api, { url: 'http://127.0.0.1/x', 'event.key.paused': 'true' })
    expect(await local.text()).toContain('id="create-url-error"')
    expect((await jsonOf(owner.own.call(api))).data.length).toBe(before)
  })

  test('A test is listed with its status, and what ended can be sent again.', async () => {
    const made = await jsonOf(send(api, { url }))
    expect(made.secret).toStartWith('whsec_')
    const one = `${api}/${made.id}`
    const begun = await jsonOf(send(`${one}/test`, {}))
    expect(begun).toMatchObject({ type: 'webhook.test', status: 'pending', attempts: 0 })
    expect((await read(`/dashboard/webhooks/${made.id}`)).text).toContain('Waiting')
    // Disabling ends what waits.
    expect((await form(one, { enabled: 'false' })).status).toBe(303)
    const off = await read(`/dashboard/webhooks/${made.id}`)
    expect(off.text).toContain('Webhook disabled.')
    const shown = `/dashboard/webhooks/${made.id}/deliveries/${begun.id}`
    expect(off.text).toContain(`href="${shown}"`)
    expect((await read(shown)).text).not.toContain('Send again')
    expect([await errorType(await send(`${one}/test`, {}))]).toEqual(['conflict'])
    await form(one, { enabled: 'true' })
    expect((await read(shown)).text).toContain('Send again')
    const again = await jsonOf(send(`${one}/deliveries/${begun.id}/redeliver`, {}))
    expect([again.event_id, again.status]).toEqual([begun.event_id, 'pending'])
    const { data } = await jsonOf(owner.own.call(`${one}/deliveries`))
    expect(data.map(({ id }: { id: string }) => id)).toEqual([begun.id])
  })

  test('The page of a delivery shows its event and each answer, and its JSON says the same.', async () => {
    const made = await jsonOf(send(api, { url }))
    const one = `${api}/${made.id}`
    const begun = await jsonOf(send(`${one}/test`, {}))
    const { deps } = w
    deps.postChecked = async () => ({ status: 500, answer: 'no <b>room</b>' })
    const tick = deliverer(deps)
    const ending = new AbortController()
    const detail = () => jsonOf(owner.own.call(`${one}/deliveries/${begun.id}`))
    await until('an attempt', async () => {
      await tick(ending.signal)
      return (await detail()).attempts === 1
    })
    ending.abort()
    const { tries, headers, body } = await detail()
    expect(tries).toMatchObject([{ http_status: 500, error: null, answer: 'no <b>room</b>' }])
    expect(headers['webhook-id']).toBe(begun.event_id)
    expect(headers['webhook-signature']).toBeUndefined()
    expect(JSON.parse(body)).toMatchObject({ type: 'webhook.test', id: begun.event_id })
    const { status, text } = await read(`/dashboard/webhooks/${made.id}/deliveries/${begun.id}`)
    expect(status).toBe(200)
    expect(text).toContain('no &lt;b&gt;room&lt;/b&gt;')
    expect(text).toContain('webhook.test')
    expect(text).not.toContain('whsec_')
    const other = await jsonOf(send(api, { url }))
    // A change of the webhook rewrites no attempt that was made before it.
    await send(one, { format: 'slack', url: 'https://example.org/other' }, 'PATCH')
    const kept = await detail()
    expect(kept.body).toBe(body)
    expect(kept.tries).toMatchObject([{ host: 'example.com', format: 'standard' }])
    expect(kept.tries[0].user_agent).toBe(headers['user-agent'])
    const changed = await read(`/dashboard/webhooks/${made.id}/deliveries/${begun.id}`)
    expect(changed.text).toContain('The body itself is not kept.')
    expect(changed.text).not.toContain('example.org/other')
    w.advance(60_000)
    const busy = { hooks: new Set<string>(), accounts: new Set<string>() }
    const due = await deps.webhooks.due(deps.clock.now(), { limit: 100, busy })
    expect(due.map(({ delivery }) => delivery.id)).toContain(begun.id)
    expect(due.some(({ delivery }) => 'tries' in delivery)).toBe(false)
    await send(`${one}/deliveries/${begun.id}/redeliver`, {})
    const { auditEntries } = w.db.tables
    const entries = await w.db.read((q) => rows(q.select().from(auditEntries)))
    expect(
      entries.filter(({ action, subject }) => action === 'webhook.resend' && subject === made.id),
    ).toMatchObject([{ actor: owner.wallet, subject: made.id, detail: { delivery: begun.id } }])
    const wrong = `/dashboard/webhooks/${other.id}/deliveries/${begun.id}`
    expect((await read(wrong)).status).toBe(404)
  })

  test('Another secret is shown once, and removing ends all.', async () => {
    const made = await jsonOf(send(api, { url }))
    const one = `${api}/${made.id}`
    const rotated = await jsonOf(send(`${one}/rotate`, { overlap_seconds: 3600 }))
    expect(rotated.secret).not.toBe(made.secret)
    expect(rotated.old_secret_until).not.toBeNull()
    const far = await form(`${one}/rotate`, { overlap_seconds: '9999999' })
    expect([far.status, (await far.text()).includes('604,800')]).toEqual([400, true])
    expect((await send(one, { description: 'new name' }, 'PATCH')).status).toBe(200)
    expect((await read(`/dashboard/webhooks/${made.id}/remove`)).text).toContain('Delete new name?')
    expect((await form(`${one}/remove`, {})).headers.get('location')).toBe('/dashboard/webhooks')
    expect((await owner.own.call(one)).status).toBe(404)
    expect((await read(`/dashboard/webhooks/${made.id}`)).status).toBe(404)
  })

  test('Others see no webhook, nor do members other than owners.', async () => {
    const made = await jsonOf(send(api, { url }))
    const stranger = await person(w)
    expect((await stranger.own.call(`${api}/${made.id}`)).status).toBe(404)
    const viewer = await member(w, owner, 'viewer')
    for (const path of [api, `${api}/${made.id}`, `${api}/${made.id}/deliveries`]) {
      expect(await errorType(await viewer.own.call(path))).toBe('role_denied')
    }
  })
})
