import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { promise } from '../support/promise.ts'
import { allRuns, eventsOf, until } from '../support/runs.ts'
import { engines, type World } from '../support/world.ts'
import { callsOf, echo, type Native, nativeWorld } from './native.ts'

const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const noRun = 'run_00000000000000000000000000'

describe.each(engines)('the routes of runs that are there on %s', (engine) => {
  let native: Native
  let w: World
  let secret: string
  let stub: Native['stub']
  const { get, post, show, background, ended } = callsOf(() => native)
  beforeAll(async () => {
    native = await nativeWorld(engine)
    ;({ w, secret, stub } = native)
  })
  afterAll(() => native.stop())

  describe('GET /v1/runs', () => {
    describe('200', () => {
      test('narrows the list by status and by model', async () => {
        for (const model of ['stub/status-500', echo]) await post({ model, input: 'x' })
        const failed = await (await get('/v1/runs?status=failed&limit=100')).json()
        expect(failed.data.length).toBeGreaterThan(0)
        expect(failed.data.every((run: { status: string }) => run.status === 'failed')).toBe(true)
        const echoes = await (await get(`/v1/runs?model=${echo}&limit=100`)).json()
        expect(new Set(echoes.data.map((run: { model: string }) => run.model))).toEqual(
          new Set([echo]),
        )
      })

      test('pages without a gap or a double while runs come in', async () => {
        for (let i = 0; i < 8; i++) await post({ model: echo, input: 'before' })
        w.advance(5)
        const known = (await allRuns(w)).map((run) => run.id).reverse()
        const seen: string[] = []
        let path = '/v1/runs?limit=3'
        for (;;) {
          const page = await (await get(path)).json()
          expect(page.object).toBe('list')
          seen.push(...page.data.map((run: { id: string }) => run.id))
          expect([page.first_id, page.last_id]).toEqual([page.data[0].id, page.data.at(-1).id])
          w.advance(1)
          await post({ model: echo, input: 'meanwhile' })
          if (!page.has_more) break
          path = `/v1/runs?limit=3&after=${page.last_id}`
        }
        expect(seen).toEqual(known)
      })

      test('shows the runs of the caller’s subtree, not those of a sibling or the parent', async () => {
        const parent = await w.key({})
        const [one, two] = [
          await w.key({ parentId: parent.key.id }),
          await w.key({ parentId: parent.key.id }),
        ]
        const made = await (await post({ model: echo, input: 'mine' }, one.secret)).json()
        const ids = async (key: string) =>
          (await (await get('/v1/runs', key)).json()).data.map((run: { id: string }) => run.id)
        expect(await ids(one.secret)).toEqual([made.id])
        expect(await ids(parent.secret)).toEqual([made.id])
        expect(await ids(two.secret)).toEqual([])
        expect((await get(`/v1/runs/${made.id}`, two.secret)).status).toBe(404)
      })
    })

    describe('400', () => {
      test('names the parameter that has no known value', async () => {
        const wrong = ['status=ended', 'model=%00', 'limit=0', 'limit=101', 'limit=x']
        for (const query of [...wrong, `after=${noRun}`]) {
          const answer = await get(`/v1/runs?${query}`)
          expect([query, answer.status]).toEqual([query, 400])
          expect((await answer.json()).error.param).toBe(query.split('=')[0])
        }
      })
    })
  })

  describe('GET /v1/runs/:id and its events', () => {
    describe('404', () => {
      promise`A12`
      test('answers alike for foreign, missing and malformed ids, but for the request id', async () => {
        const { id } = await (await post({ model: echo, input: 'mine' })).json()
        const stranger = await w.key({ account: otherAccount })
        const told = new Set<string>()
        for (const path of [`${id}`, noRun, `${id}/events`, `${noRun}/events`, 'no-id']) {
          const answer = await get(`/v1/runs/${path}`, stranger.secret)
          expect(answer.status).toBe(404)
          told.add((await answer.text()).replace(/req_\w{26}/, ''))
        }
        expect(told.size).toBe(1)
      })
    })
  })

  describe('GET /v1/runs/:id/events', () => {
    describe('200', () => {
      test('sends the end of a run that is over already', async () => {
        const { id } = await (await background(echo)).json()
        await ended(id)
        const text = await (await get(`/v1/runs/${id}/events`)).text()
        const told = eventsOf(text).map((data) => JSON.parse(data))
        expect(told.map(({ type }) => type)).toEqual(['run.status', 'run.ended'])
        expect(told[1].run.output[0].message.content).toBe('one two')
      })

      test('sends the states of a run that was not in the background, never its output', async () => {
        const run = await (await post({ model: echo, input: 'private words' })).json()
        const text = await (await get(`/v1/runs/${run.id}/events`)).text()
        expect(text).toContain('run.ended')
        expect(text).not.toContain('private words')
      })
    })
  })

  describe('POST /v1/runs/:id/cancel', () => {
    describe('200', () => {
      test('cancels a running background run, and its events say so', async () => {
        const { id } = await (await background('stub/slow')).json()
        await until('the run to start', async () => (await show(id)).status === 'running')
        await until('the upstream to speak', () => stub.counts.active > 0)
        const events = get(`/v1/runs/${id}/events`)
        const opened = await events
        expect(opened.headers.get('content-type')).toStartWith('text/event-stream')
        await Bun.sleep(30)
        const answer = await w.call(`/v1/runs/${id}/cancel`, { key: secret, method: 'POST' })
        expect((await answer.json()).status).toBe('cancelled')
        const told = eventsOf(await opened.text()).map((data) => JSON.parse(data))
        expect(told[0]).toMatchObject({ type: 'run.status', run: { id } })
        expect(told.some(({ type }) => type === 'run.output.delta')).toBe(true)
        expect(told.at(-1)).toMatchObject({ type: 'run.ended', run: { status: 'cancelled' } })
        expect(told.at(-1).run.cost_nusd).toBeGreaterThan(0)
      })
    })
  })
})
