import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { toHex } from '../../../src/kernel/hex.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { tellsOf } from '../../support/sharing.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { addAnchors, json, namedKey, runOnce, shareAs } from './world.ts'

const owner = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const now = Date.UTC(2026, 10, 20, 12)
const treasury = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'

for (const engine of engines.filter((one) => one !== 'pglite')) {
  describe(`GET /explorer?q= on ${engine}`, () => {
    let w: World
    let key: string
    let open: string
    let closed: string
    beforeAll(async () => {
      w = await world({ engine, now, toml: `[chain]\ntreasury = "${treasury}"\n` })
      key = (await w.key({ balance: 10n * usd, scopes: [...scopes] })).secret
      open = await runOnce(w, key)
      closed = await runOnce(w, key)
      await shareAs(w, key, open, { visibility: 'public' })
    }, 60_000)
    afterAll(() => w.stop())

    const find = (text: string) =>
      w.call(`/explorer?q=${encodeURIComponent(text)}`, {
        redirect: 'manual',
        // What is compressed is as long as the text is odd.
        headers: { 'accept-encoding': 'identity' },
      })
    const led = async (text: string) => (await find(text)).headers.get('location')
    const said = async (text: string) => (await find(text)).text()
    const nothing = 'No public match.'

    test('a public receipt by its id, its run, its digest and its index', async () => {
      const { digest, proof } = await json(w, `/v1/receipts/${open}`)
      const there = `/receipts/${open}`
      expect(await led(open)).toBe(there)
      expect(await led(` ${open} `)).toBe(there)
      expect(await led(open.replace('rcpt_', 'run_'))).toBe(there)
      expect(await led(digest)).toBe(there)
      expect(await led(digest.slice(2).toUpperCase())).toBe(there)
      // An index may be a size that was signed too: both are shown then.
      const index = await find(proof.index)
      expect(index.headers.get('location') ?? (await index.text())).toContain(there)
    })

    test('private, unlisted and unknown ones are answered alike', async () => {
      const shapeOf = async (text: string) =>
        (await tellsOf(await find(text))).replaceAll(text, '').replace(/"etag","[^"]*"/, '')
      const unknown = `${closed.slice(0, -3)}zzz`
      expect(await shapeOf(closed)).toBe(await shapeOf(unknown))
      expect(await said(closed)).toContain(nothing)
      await shareAs(w, key, closed, { visibility: 'unlisted' })
      expect(await shapeOf(closed)).toBe(await shapeOf(unknown))
      const { digest } = await json(w, `/v1/receipts/${closed}`)
      const none = `0x${'ab'.repeat(32)}`
      expect(await shapeOf(digest)).toBe(await shapeOf(none))
      const runs = [closed, unknown].map((id) => id.replace('rcpt_', 'run_'))
      expect(await shapeOf(runs[0] ?? '')).toBe(await shapeOf(runs[1] ?? ''))
    })

    test('an anchor by its id, its transaction and its root', async () => {
      const [row] = await addAnchors(w, [2])
      if (!row?.txHash) throw new Error('no anchor')
      const { chainTxs } = w.db.tables
      const sent = {
        hash: row.txHash,
        sender: owner,
        nonce: 0,
        purpose: 'anchor' as const,
        subject: row.id,
        raw: '0x',
        gas: 1,
        maxFeeWei: '1',
        priorityFeeWei: '1',
        createdAt: 0,
        sentAt: 0,
      }
      await w.db.write(function* (q) {
        yield* rows(q.insert(chainTxs).values(sent).returning())
      })
      for (const asked of [row.id, row.txHash, toHex(row.root)]) {
        expect(await said(asked)).toContain(toHex(row.root))
      }
    })

    test('a size of the log that was signed', async () => {
      const { log } = await json(w, '/v1/anchors')
      expect(await said(log.checkpoint.size)).toContain(log.checkpoint.root)
    })

    test('a passport by its handle, and by its owner only where that is shown', async () => {
      await namedKey(w, 'tidepool', owner.toLowerCase())
      expect(await led('@tidepool')).toBe('/passports/tidepool')
      expect(await led('TidePool')).toBe('/passports/tidepool')
      expect(await said('@nobody-here')).toContain(nothing)
      expect(await said(owner)).toContain(nothing)
      await w.deps.passports.change('tidepool', (row) => ({
        row: { ...row, ownerShown: true },
        audit: {
          id: w.deps.ids.make('req'),
          at: 0,
          actor: owner,
          action: 'passport.edit',
          accountId: row.accountId,
          subject: row.id,
          detail: {},
        },
      }))
      expect(await led(owner)).toBe('/passports/tidepool')
    })

    test('what begins like a receipt, its digest, an anchor or a handle is found', async () => {
      const { digest } = await json(w, `/v1/receipts/${open}`)
      const there = `/receipts/${open}`
      // Ids begin with their time: those of one moment share a beginning.
      expect(await led(open.slice(0, 25))).toBe(there)
      expect(await led(open.replace('rcpt_', 'run_').slice(0, 24))).toBe(there)
      expect(await led(digest.slice(0, 12))).toBe(there)
      expect(await led(digest.slice(2, 20))).toBe(there)
      const [row] = await addAnchors(w, [3])
      if (!row?.txHash) throw new Error('no anchor')
      expect(await said(row.id.slice(0, 24))).toContain(toHex(row.root))
      expect(await said(toHex(row.root).slice(0, 14))).toContain(toHex(row.root))
      await namedKey(w, 'tide-table', owner.toLowerCase())
      await namedKey(w, 'tide-turner', owner.toLowerCase())
      const tides = await said('@tide-')
      expect(tides).toContain('/passports/tide-table')
      expect(tides).toContain('/passports/tide-turner')
      expect(tides).not.toContain('/passports/tidepool')
      expect(await led('tide-tu')).toBe('/passports/tide-turner')
    })

    test('the beginning of what is not public finds nothing, nor does one of three digits', async () => {
      const { digest } = await json(w, `/v1/receipts/${closed}`)
      const long = [
        closed.slice(0, 29),
        digest.slice(0, 20),
        closed.slice(0, 8),
        '0x123',
        'rcpt_01',
      ]
      for (const text of long)
        expect([text, await said(text)]).toEqual([text, expect.stringContaining(nothing)])
    })

    test('an address of this service says what it is', async () => {
      expect(await said(testAccount)).toContain('signs the receipts')
      expect(await said(treasury.toLowerCase())).toContain('receives deposits')
    })

    test.each([
      ['%', 'a wildcard'],
      ['%'.repeat(1000), 'very long'],
      ["' or 1=1 --", 'no SQL'],
      ['<script>alert(1)</script>', 'text'],
      ['rcpt_', 'half an id'],
      ['0x12', 'half a hash'],
      ['99999999999999999999', 'a large number'],
    ])('nothing answers to %p (%s)', async (text) => {
      const page = await said(text)
      expect(page).toContain(nothing)
      expect(page).not.toContain('<script>alert')
    })

    test('400 for a zero byte, for two searches, and for a page there is not', async () => {
      for (const query of ['q=%00', 'q=a&q=b', 'after=x', 'window=1y']) {
        expect((await w.call(`/explorer?${query}`)).status).toBe(400)
      }
    })
  })
}
