import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Browser, browser, signInWith } from '../access/accounts/wallet.ts'
import { follow } from '../support/live.ts'
import { allRuns, modelsToml, until } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, testAccount, usd, type World, world } from '../support/world.ts'

// Three engines on a busy machine.
setDefaultTimeout(30_000)

const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const evil = '<img src=x onerror=alert(1)>"\'&'
const json = { accept: 'application/json' }
const html = { accept: 'text/html' }
const htmx = { 'hx-request': 'true' }

for (const engine of engines) {
  describe(`an account's runs in the dashboard, on ${engine}`, () => {
    let w: World
    let stub: StubUpstream
    let own: Browser
    let key: { id: string; secret: string }
    let foreign: { id: string; secret: string }
    let foreignRun: string

    beforeAll(async () => {
      stub = await startStubUpstream()
      w = await world({ engine, toml: modelsToml(stub.url, ['normal', 'status-429', 'slow']) })
      own = browser(w)
      await signInWith(own)
      key = await newKey(testAccount, 'crawler-01')
      foreign = await newKey(otherAccount, 'stranger')
      await run(key, 'normal', { team: 'search', note: evil })
      await run(key, 'normal', { xteam: 'search' })
      await run(key, 'status-429')
      await run(foreign, 'normal')
      foreignRun = (await runsOf(foreign.id)).at(-1)?.id ?? ''
    })
    afterAll(async () => {
      await w?.stop()
      await stub?.stop()
    })

    async function newKey(account: string, name: string) {
      const made = await w.key({ account, name, balance: 10n * usd })
      return { id: made.key.id, secret: made.secret }
    }
    const run = (by: typeof key, model: string, tags: Record<string, string> = {}) =>
      w.call('/v1/runs', { key: by.secret, json: { model: `stub/${model}`, input: 'hi', tags } })
    const runsOf = async (keyId: string) => (await allRuns(w)).filter((one) => one.keyId === keyId)
    const list = async (query = '') => {
      const answer = await own.call(`/api/portal/runs${query}`, { headers: json })
      return { status: answer.status, body: await answer.json() }
    }
    /** A run in flight, and its id. */
    async function slowRun(): Promise<string> {
      await w.call('/v1/runs', {
        key: key.secret,
        json: { model: 'stub/slow', input: 'hi', background: true },
      })
      const open = await until('a run in flight', async () =>
        (await runsOf(key.id)).find((one) => one.status === 'running'),
      )
      return open.id
    }

    describe('GET /api/portal/runs', () => {
      test('lists the runs of all keys of the account and of no other, newest first', async () => {
        const { status, body } = await list()
        expect(status).toBe(200)
        expect(body.data.map((one: { model: string }) => one.model)).toEqual([
          'stub/status-429',
          'stub/normal',
          'stub/normal',
        ])
        expect(body).toMatchObject({ object: 'list', has_more: false })
      })

      test('goes on behind the last id, to the end', async () => {
        const first = (await list('?limit=2')).body
        expect(first).toMatchObject({ has_more: true, last_id: first.data[1].id })
        const rest = (await list(`?limit=2&after=${first.last_id}`)).body
        expect(rest).toMatchObject({ has_more: false })
        expect(rest.data.length).toBe(1)
      })

      test.each([
        ['status=failed', 1],
        ['model=stub/normal', 2],
        ['tag=team', 1],
        ['tag=team:search', 1],
        ['tag=team:SEARCH', 0],
        ['tag=eam:search', 0],
        ['tag=%25', 0],
        [`tag=${encodeURIComponent(`note:${evil}`)}`, 1],
        ['from=2020-01-01', 3],
        ['to=2020-01-01', 0],
        ['status=&model=&key=&tag=&from=&to=', 3],
      ])('with %s it finds %d', async (query, count) => {
        expect((await list(`?${query}`)).body.data.length).toBe(count)
      })

      test('with a key it finds those of the key', async () => {
        expect((await list(`?key=${key.id}`)).body.data.length).toBe(3)
      })

      test('answers htmx the panel alone', async () => {
        const answer = await own.call('/api/portal/runs', { headers: htmx })
        const text = await answer.text()
        expect(text).toStartWith('<section class="sec listed" id="runs"')
        expect(text).toMatch(/<span class="st bad">(Provider \w+|Not available)</)
      })

      test.each([
        ['status=done', 'status'],
        ['from=yesterday', 'from'],
        ['key=nonsense', 'key'],
        ['after=run_00000000000000000000000000', 'after'],
        ['limit=0', 'limit'],
        ['status=failed&status=failed', 'status'],
      ])('400 for %s', async (query, param) => {
        const { status, body } = await list(`?${query}`)
        expect([status, body.error.param]).toEqual([400, param])
      })

      test("400 for another account's key or run, as for one that is not there", async () => {
        expect((await list(`?key=${foreign.id}`)).body.error.param).toBe('key')
        expect((await list(`?after=${foreignRun}`)).body.error.param).toBe('after')
      })
    })

    describe('GET /dashboard/runs', () => {
      test('shows names and tags of people as text', async () => {
        const named = await newKey(testAccount, evil)
        await run(named, 'normal')
        const page = await (await own.call('/dashboard/runs', { headers: html })).text()
        expect(page).toContain(Bun.escapeHTML(evil))
        expect(page).not.toContain(evil)
        const query = `?tag=${encodeURIComponent(evil)}`
        const asked = await (await own.call(`/dashboard/runs${query}`, { headers: html })).text()
        expect(asked).toContain('No matching runs')
        expect(asked).not.toContain(evil)
      })

      test('a filter that cannot be read stays in the form, with what is wrong', async () => {
        const answer = await own.call('/dashboard/runs?from=soon', { headers: html })
        expect(answer.status).toBe(400)
        const page = await answer.text()
        expect(page).toContain('role="alert"')
        expect(page).toContain('value="soon"')
      })
    })

    describe('GET /dashboard/runs/:id', () => {
      const pageOf = async (id: string) => {
        const answer = await own.call(`/dashboard/runs/${id}`, { headers: html })
        return { status: answer.status, text: await answer.text() }
      }

      test('shows the lines, what they cost, the tags as text and the receipt', async () => {
        const [first] = await runsOf(key.id)
        const { text } = await pageOf(first?.id ?? '')
        expect(text).toContain('Input')
        expect(text).toContain(`/receipts/rcpt_${first?.id.slice(4)}`)
        expect(text).toContain(`note: ${Bun.escapeHTML(evil)}`)
        expect(text).not.toContain(evil)
      })

      test('says of a failure what happened and that nothing was charged', async () => {
        const failed = (await runsOf(key.id)).find((one) => one.status === 'failed')
        const { text } = await pageOf(failed?.id ?? '')
        expect(text).toContain('The model server is busy')
        expect(text).toContain('Nothing was charged')
      })

      test('404 for a run of another account, for none, and for what is no id', async () => {
        for (const id of [foreignRun, 'run_00000000000000000000000000', 'nonsense']) {
          expect((await pageOf(id)).status).toBe(404)
          const answer = await own.call(`/api/portal/runs/${id}`, { headers: json })
          expect(answer.status).toBe(404)
        }
      })
    })

    describe('POST /api/portal/runs/:id/cancel', () => {
      const cancel = (id: string, headers: Record<string, string>) =>
        own.call(`/api/portal/runs/${id}/cancel`, { method: 'POST', headers })

      test('ends a run in flight: JSON, fragment or the page of the run', async () => {
        const asked = await cancel(await slowRun(), json)
        expect(await asked.json()).toMatchObject({ status: 'cancelled' })
        const part = await (await cancel(await slowRun(), htmx)).text()
        expect(part).toStartWith('<div class="stack" id="run">')
        expect(part).toContain('>Stopped</span>')
        const id = await slowRun()
        const form = await cancel(id, html)
        expect([form.status, form.headers.get('location')]).toEqual([303, `/dashboard/runs/${id}`])
      })

      test('409 for a run that has ended, in its place', async () => {
        const [ended] = await runsOf(key.id)
        const asked = await cancel(ended?.id ?? '', json)
        expect((await asked.json()).error.type).toBe('conflict')
        const part = await cancel(ended?.id ?? '', htmx)
        expect(part.status).toBe(409)
        expect(await part.text()).toContain('The run has ended')
        expect((await cancel(ended?.id ?? '', html)).status).toBe(409)
      })

      test('404 for a run of another account; 403 from another origin', async () => {
        expect((await cancel(foreignRun, json)).status).toBe(404)
        const id = await slowRun()
        const crossed = await cancel(id, { ...json, 'sec-fetch-site': 'same-site' })
        expect(crossed.status).toBe(403)
        expect((await cancel(id, json)).status).toBe(200)
      })
    })

    describe('GET /api/portal/runs/live', () => {
      test('brings the rows that came since, in one message with an id', async () => {
        const since = (await list()).body.first_id
        const live = await follow(w, own, `/api/portal/runs/live?since=${since}`)
        await run(key, 'normal')
        const message = await live.next()
        live.close()
        const came = [expect.stringContaining(`id="${(await list()).body.first_id}"`)]
        expect(JSON.parse(message?.html ?? '').rows).toEqual(came)
      })

      test('brings the row of a run that ended, and what a client missed', async () => {
        const id = await slowRun()
        const path = `/api/portal/runs/live?since=${id}&open=${id},${foreignRun}`
        const live = await follow(w, own, path)
        await own.call(`/api/portal/runs/${id}/cancel`, { method: 'POST', headers: json })
        let message = await live.next()
        if (!message?.html.includes('Stopped')) message = await live.next()
        live.close()
        expect(JSON.parse(message?.html ?? '').changed[id]).toContain('Stopped')
        expect(message?.html).not.toContain(foreignRun)
        const again = await follow(w, own, path, { 'last-event-id': message?.id ?? '' })
        await run(key, 'normal')
        while (!(await again.next())?.html.includes((await list()).body.first_id));
        again.close()
      })
    })

    describe('GET /api/portal/runs/:id/live', () => {
      test('brings the whole run when it ends', async () => {
        const id = await slowRun()
        const page = await (await own.call(`/dashboard/runs/${id}`, { headers: html })).text()
        const [, path = ''] = /hx-sse:connect="([^"]+)"/.exec(page) ?? []
        const live = await follow(w, own, path.replaceAll('&amp;', '&'))
        await own.call(`/api/portal/runs/${id}/cancel`, { method: 'POST', headers: json })
        const message = await live.next()
        live.close()
        expect(message?.html).toMatch(/^<div class="stack" id="run">.*>Stopped</)
        expect(message?.html).toContain(`hx-sse:connect="/api/portal/runs/${id}/live?mark=`)
      })

      test('404 for a run of another account', async () => {
        const answer = await own.call(`/api/portal/runs/${foreignRun}/live`, { headers: json })
        expect(answer.status).toBe(404)
      })
    })

    describe('without a session', () => {
      test.each([
        ['GET', '/api/portal/runs'],
        ['GET', '/api/portal/runs/live'],
        ['GET', '/api/portal/runs/run_00000000000000000000000000'],
        ['GET', '/api/portal/runs/run_00000000000000000000000000/live'],
        ['POST', '/api/portal/runs/run_00000000000000000000000000/cancel'],
      ])('401 session_required: %s %s', async (method, path) => {
        const answer = await w.call(path, { method, headers: json })
        expect(answer.status).toBe(401)
        expect((await answer.json()).error.type).toBe('session_required')
      })

      test('a page leads to the sign-in and back', async () => {
        const answer = await w.call('/dashboard/runs?status=failed', {
          headers: html,
          redirect: 'manual',
        })
        expect(answer.headers.get('location')).toBe(
          '/signin?next=%2Fdashboard%2Fruns%3Fstatus%3Dfailed',
        )
      })

      test('a stream ends with its session', async () => {
        const guest = browser(w)
        await signInWith(guest)
        const live = await follow(w, guest, '/api/portal/runs/live')
        await live.next()
        await guest.call('/api/auth/logout', { json: {} })
        await run(key, 'normal')
        expect(await live.next()).toBeUndefined()
      })
    })
  })
}
