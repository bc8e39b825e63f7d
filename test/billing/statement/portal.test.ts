import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { soldPlansToml } from '../../support/plans.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'

const now = Date.UTC(2026, 10, 21, 12)
const day = 86_400_000
const page = { accept: 'text/html' }
const htmx = { 'hx-request': 'true', accept: 'text/html' }

type Line = { id: string; kind: string; ref: string; amount_nusd: number; balance_nusd: number }
type List = { data: Line[]; has_more: boolean; last_id: string | null }

describe.each(engines)('the dashboard’s statement on %s', (engine) => {
  let w: World
  let own: Browser
  let stranger: Browser
  beforeAll(async () => {
    w = await world({ engine, now, toml: pricedBuiltins + soldPlansToml })
    own = browser(w)
    await signInWith(own)
    const { secret } = await w.key({ balance: 100n * usd })
    const ask = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'a b c' }] }
    const run = async () => {
      const answer = await w.call('/v1/chat/completions', { key: secret, json: ask })
      expect(answer.status).toBe(200)
      await answer.json()
    }
    await run()
    await run()
    w.advance(day)
    await signInWith(own)
    await run()
    await own.call('/api/portal/plans/builder/subscribe', { json: {} })
    await run()
    stranger = browser(w)
    await signInWith(stranger, privateKeyToAccount(`0x${'7'.repeat(64)}`))
  }, 60_000)
  afterAll(() => w.stop())

  const list = async (query = '', who = own): Promise<List> => {
    const answer = await who.call(`/api/portal/statement${query}`)
    expect(answer.status).toBe(200)
    return (await answer.json()) as List
  }
  const html = async (query = '', headers: Record<string, string> = page) =>
    await (await own.call(`/dashboard/statement${query}`, { headers })).text()
  const balance = async () => Number((await w.deps.accounts.find(testAccount))?.balance)

  describe('GET /api/portal/statement', () => {
    test('401 session_required without a session', async () => {
      for (const path of ['/api/portal/statement', '/api/portal/statement/export']) {
        const answer = await browser(w).call(path)
        expect([answer.status, (await answer.json()).error.type]).toEqual([401, 'session_required'])
      }
    })

    test('200 with every movement and what was there after it, newest first', async () => {
      const { data, has_more: more } = await list()
      expect(more).toBe(false)
      expect(data.map(({ kind }) => kind)).toEqual(['run', 'plan', 'run', 'run', 'run', 'grant'])
      expect(data[0]?.balance_nusd).toBe(await balance())
      expect(data.at(-1)).toMatchObject({ amount_nusd: 100e9, balance_nusd: 100e9 })
      expect(data[1]).toMatchObject({ amount_nusd: -20e9, ref: expect.stringMatching(/^sub_/) })
      expect(data.reduce((sum, { amount_nusd: amount }) => sum + amount, 0)).toBe(await balance())
    })

    test('goes on after the last line of a page; 400 after one that is not there', async () => {
      const first = await list('?limit=4')
      const second = await list(`?limit=4&after=${first.last_id}`)
      expect([...first.data, ...second.data]).toEqual((await list()).data)
      const id = first.data[0]?.id ?? ''
      for (const after of ['x', '1-1', `${id}0`, '', '-', '9'.repeat(40)]) {
        const answer = await own.call(`/api/portal/statement?after=${after}`)
        expect((await answer.json()).error.param).toBe('after')
      }
      const foreign = await stranger.call(`/api/portal/statement?after=${id}`)
      expect(foreign.status).toBe(400)
    })

    test('200 by day: the runs in one sum, the rest line by line', async () => {
      const { data } = (await list('?by=day')) as unknown as {
        data: Record<string, unknown>[]
      }
      const all = (await list()).data
      const sum = (lines: Line[]) => lines.reduce((total, one) => total + one.amount_nusd, 0)
      const runs = all.filter(({ kind }) => kind === 'run')
      expect(data).toEqual([
        {
          id: '2026-11-22',
          object: 'statement.day',
          opening_nusd: all[3]?.balance_nusd,
          closing_nusd: await balance(),
          runs: { count: 2, amount_nusd: sum(runs.slice(0, 2)) },
          movements: [all[1]],
        },
        {
          id: '2026-11-21',
          object: 'statement.day',
          opening_nusd: 0,
          closing_nusd: all[3]?.balance_nusd,
          runs: { count: 2, amount_nusd: sum(runs.slice(2)) },
          movements: [all[5]],
        },
      ])
      const second = await list('?by=day&limit=1&after=2026-11-22')
      expect(second.data as unknown[]).toEqual([data[1]])
      expect(second.has_more).toBe(false)
      expect((await own.call('/api/portal/statement?by=day&after=soon')).status).toBe(400)
      expect((await own.call('/api/portal/statement?by=week')).status).toBe(400)
    })

    test('200 and empty for someone to whom nothing happened', async () => {
      expect(await list('', stranger)).toMatchObject({ data: [], has_more: false, last_id: null })
    })
  })

  describe('GET /api/portal/statement/export', () => {
    test('200 with a file whose amounts add up to the balance', async () => {
      const answer = await own.call('/api/portal/statement/export')
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect(answer.headers.get('content-disposition')).toBe(
        'attachment; filename="counterfoil-statement-as-of-6.csv"',
      )
      const [header, ...rows] = (await answer.text()).trimEnd().split('\r\n')
      expect(header).toBe('time,id,kind,ref,amount_usd,amount_nusd,balance_usd,balance_nusd')
      const fields = rows.map((row) => row.split(','))
      expect(fields.reduce((sum, row) => sum + Number(row[5]), 0)).toBe(await balance())
      expect(Number(fields.at(-1)?.[7])).toBe(await balance())
      expect(fields[0]?.slice(2)).toEqual([
        'grant',
        expect.stringMatching(/^req_/),
        '100.00',
        '100000000000',
        '100.00',
        '100000000000',
      ])
    })
  })

  describe('GET /dashboard/statement', () => {
    test('303 to the sign-in without a session', async () => {
      const answer = await browser(w).call('/dashboard/statement', { headers: page })
      expect(answer.headers.get('location')).toBe('/signin?next=%2Fdashboard%2Fstatement')
    })

    test('200 by day, with every movement one link away, and pages of both', async () => {
      const text = await html()
      expect(text).toContain('2 runs')
      expect(text).toContain('Plan<small')
      expect(text).toContain('Credit<small')
      expect(text).toContain('href="/dashboard/statement?by=movement"')
      expect(await html('?limit=1')).toContain('href="/dashboard/statement?after=2026-11-22"')
      const each = await html('?by=movement&limit=2')
      const older = /href="([^"]+)" rel="next"/.exec(each)?.[1]?.replaceAll('&amp;', '&') ?? ''
      expect(older).toStartWith('/dashboard/statement?by=movement&after=')
      expect((await own.call(`${older}`, { headers: page })).status).toBe(200)
    })

    test('200 with the panel alone for htmx', async () => {
      const part = await html('', htmx)
      expect(part).toStartWith('<section class="sec" id="statement"')
    })

    test('200 and says what will stand there while nothing moved', async () => {
      const answer = await stranger.call('/dashboard/statement', { headers: page })
      expect(await answer.text()).toContain('No entries yet')
    })
  })
})
