import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { readIdPart } from '../../../src/kernel/id-part.ts'
import { shortId } from '../../../src/web/ui/hash.tsx'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { type SharingWorld, sharingWorld } from '../../support/sharing.ts'
import { engines } from '../../support/world.ts'

setDefaultTimeout(60_000)

const start = Date.UTC(2026, 9, 1, 12)
const day = 86_400_000

describe.each(engines)('receipts and runs that are looked for on %s', (engine) => {
  let s: SharingWorld
  let own: Browser
  let other: Browser
  let ids: string[]
  beforeAll(async () => {
    s = await sharingWorld(engine, start)
    const old = await s.ask('an old one')
    s.w.advance(2 * day)
    ids = [await s.ask('one'), await s.ask('two'), old]
    ids.sort().reverse()
    own = browser(s.w)
    other = browser(s.w)
    await signInWith(own)
    await signInWith(other, privateKeyToAccount(generatePrivateKey()))
  })
  afterAll(() => s.w.stop())

  const found = async (kind: 'receipts' | 'runs', query: string): Promise<string[]> => {
    const answer = await own.call(`/api/portal/${kind}?${query}`)
    expect(answer.status).toBe(200)
    return (await answer.json()).data.map(({ id }: { id: string }) => id.replace('run_', 'rcpt_'))
  }
  const csv = async (path: string, from = own) => {
    const answer = await from.call(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/csv; charset=utf-8',
    ])
    return (await answer.text())
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','))
  }

  for (const kind of ['receipts', 'runs'] as const) {
    test(`are found by the time they began: ${kind}`, async () => {
      const [newest = '', newer = '', old = ''] = ids
      for (const [query, expected] of [
        ['last=24h', [newest, newer]],
        ['last=7d', ids],
        ['from=2026-10-02', [newest, newer]],
        ['to=2026-10-02', [old]],
        ['from=2026-10-01&to=2026-10-03', ids],
        ['from=2026-10-04', []],
      ] as const) {
        expect([query, await found(kind, query)]).toEqual([query, [...expected]])
      }
    })

    test(`are found by their ids, whole or in part: ${kind}`, async () => {
      const [newest = '', , old = ''] = ids
      for (const id of [old, old.replace('rcpt_', 'run_'), old.toUpperCase(), shortId(old)]) {
        expect([id, await found(kind, `id=${encodeURIComponent(id)}`)]).toEqual([id, [old]])
      }
      expect(await found(kind, `id=${old.slice(0, 15)}`)).toEqual([old])
      expect(await found(kind, `id=${old.slice(0, 8)}`)).toEqual(ids)
      expect(await found(kind, `id=${old}&limit=1`)).toEqual([old])
      expect(await found(kind, `id=${newest.slice(0, -1)}${newest.endsWith('0') ? 1 : 0}`)).toEqual(
        [],
      )
      for (const id of ['rcpt_', 'key_01', 'rcpt_!', `rcpt_${'0'.repeat(27)}`]) {
        const answer = await own.call(`/api/portal/${kind}?id=${encodeURIComponent(id)}`)
        expect([id, answer.status, (await answer.json()).error.param]).toEqual([id, 400, 'id'])
      }
    })

    test(`come as a CSV file of all that match, to their owner alone: ${kind}`, async () => {
      const [header = [], ...lines] = await csv(`/dashboard/${kind}.csv?last=24h&limit=1`)
      const at = header.indexOf('receipt')
      expect(lines.map((fields) => fields[at])).toEqual(ids.slice(0, 2))
      expect(lines.map((fields) => fields.length)).toEqual([header.length, header.length])
      expect(await csv(`/dashboard/${kind}.csv`, other)).toEqual([header])
      expect(s.w.deps.exportSlots.count()).toBe(0)
      const refused = await own.call(`/dashboard/${kind}.csv?last=1h`)
      expect(refused.status).toBe(400)
      const stranger = await browser(s.w).call(`/dashboard/${kind}.csv`)
      expect(stranger.headers.get('location')).toStartWith('/signin')
    })
  }

  test('the page of receipts keeps the filter in its form and in the link of the file', async () => {
    const headers = { accept: 'text/html' }
    const asked = await own.call('/dashboard/receipts?last=24h&id=rcpt_0&limit=50', { headers })
    const html = await asked.text()
    expect(html).toContain('<option value="24h" selected')
    expect(html).toContain('value="rcpt_0"')
    expect(html).toContain('href="/dashboard/receipts.csv?last=24h&amp;id=rcpt_0"')
    expect(html).not.toContain('/api/portal/receipts/live')
  })
})

test('a part of an id is read with or without its prefix, and nothing else is', () => {
  expect(readIdPart(' RCPT_01M8…r6tk83 ')).toEqual({ start: '01m8', end: 'r6tk83' })
  expect(readIdPart('01m8...r6')).toEqual({ start: '01m8', end: 'r6' })
  expect(readIdPart('run_01')).toEqual({ start: '01', end: '' })
  for (const text of ['', 'rcpt_', '…', 'key_01', '01m8 r6', 'ill', `01…${'0'.repeat(25)}`]) {
    expect([text, readIdPart(text)]).toEqual([text, undefined])
  }
})
