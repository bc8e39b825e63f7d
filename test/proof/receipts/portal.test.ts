import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { ReceiptFile } from '../../../src/verify/receipt.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import {
  auditsOf,
  bodyOf,
  type SharingWorld,
  sharingWorld,
  tellsOf,
  unknownReceipt,
} from '../../support/sharing.ts'
import { engines, testAccount } from '../../support/world.ts'

type Listed = {
  data: { id: string; model: string; state: string; visibility: string; digest: string }[]
  has_more: boolean
  last_id: string | null
}

const asPage = { accept: 'text/html' }
const asForm = { ...asPage, 'content-type': 'application/x-www-form-urlencoded' }

describe.each(engines)('receipts in a browser on %s', (engine) => {
  let s: SharingWorld
  let own: Browser
  let other: Browser
  beforeAll(async () => {
    s = await sharingWorld(engine)
    own = browser(s.w)
    other = browser(s.w)
    await signInWith(own)
    await signInWith(other, privateKeyToAccount(generatePrivateKey()))
  }, 60_000)
  afterAll(() => s.w.stop())

  const list = async (query = '', from = own): Promise<Listed> =>
    (await from.call(`/api/portal/receipts${query}`)).json()
  const page = (path: string, from = own) => from.call(path, { headers: asPage })
  const portal = (id: string, action: string, json: object = {}, from = own) =>
    from.call(`/api/portal/receipts/${id}/${action}`, { json })
  const form = (id: string, fields: Record<string, string>, action = 'share') => {
    const body = new URLSearchParams(fields).toString()
    const init = { method: 'POST', headers: asForm, body }
    return own.call(`/api/portal/receipts/${id}/${action}`, init as never)
  }

  describe('GET /dashboard/receipts', () => {
    test('lists one’s own by page, by who sees them and by model', async () => {
      const ids = [await s.ask('one'), await s.ask('two'), await s.ask('three')]
      await portal(ids[1] ?? '', 'share', { visibility: 'unlisted' })
      const all = await list('?limit=2')
      expect(all.data.map(({ id }) => id)).toEqual([ids[2] ?? '', ids[1] ?? ''])
      expect(all).toMatchObject({ has_more: true, last_id: ids[1] })
      expect(all.data[1]).toMatchObject({ visibility: 'unlisted', model: 'counterfoil/echo-1' })
      const rest = await list(`?limit=2&after=${ids[1]}`)
      expect(rest.data.map(({ id }) => id)).toEqual([ids[0] ?? ''])
      expect(rest.has_more).toBe(false)
      const found = async (query: string) => (await list(query)).data.map(({ id }) => id)
      expect(await found('?visibility=unlisted')).toEqual([ids[1] ?? ''])
      expect(await found('?visibility=private')).toEqual([ids[2] ?? '', ids[0] ?? ''])
      expect(await found('?visibility=unlisted&model=other')).toEqual([])
      expect(await found('?model=counterfoil/echo-1&limit=1')).toEqual([ids[2] ?? ''])
      expect((await list('', other)).data).toEqual([])
      const html = await (await page('/dashboard/receipts?visibility=unlisted')).text()
      expect(html).toContain(ids[1] ?? '')
      expect(html).not.toContain(ids[2] ?? '')
      expect(await (await page('/dashboard/receipts', other)).text()).toContain('No receipts yet')
    })

    test('says what it cannot read, on the page with its true status', async () => {
      const wrong = await page('/dashboard/receipts?visibility=all')
      expect([wrong.status, await wrong.text()]).toEqual([
        400,
        expect.stringContaining('must be one of'),
      ])
      for (const query of ['?after=run_1', '?limit=0', '?visibility=all']) {
        expect((await own.call(`/api/portal/receipts${query}`)).status).toBe(400)
      }
    })

    test('is a fragment for htmx', async () => {
      const headers = { 'hx-request': 'true' }
      for (const path of ['/dashboard/receipts', '/api/portal/receipts']) {
        const text = await (await own.call(path, { headers })).text()
        expect(text).toStartWith('<section class="sec listed" id="receipts"')
      }
    })
  })

  describe('one receipt', () => {
    test('is whole for its owner, as a page, as JSON and as a file', async () => {
      const id = await s.ask('whole')
      const html = await (await page(`/dashboard/receipts/${id}`)).text()
      for (const words of [id, testAccount, 'Signature is from this service', 'Total adds up']) {
        expect(html).toContain(words)
      }
      expect(html).toContain('Signed and logged. This service anchors nothing.')
      const file = await (await own.call(`/api/portal/receipts/${id}`)).json()
      expect(file).toMatchObject({ visibility: 'private', share: { url: null } })
      expect(file.disclosures.input.salt).toMatch(/^0x/)
      const saved = await own.call(`/api/portal/receipts/${id}/file`)
      expect(saved.headers.get('content-disposition')).toBe(
        `attachment; filename="${id}.receipt.json"`,
      )
      expect(await s.verify(await saved.json())).toMatchObject({ valid: true })
    })

    test('of another account is unknown, behind every door, and so is one that is none', async () => {
      const id = await s.ask('foreign')
      const doors = (one: string) => [
        () => page(`/dashboard/receipts/${one}`, other),
        () => page(`/dashboard/receipts/${one}/erase`, other),
        () => other.call(`/api/portal/receipts/${one}`),
        () => other.call(`/api/portal/receipts/${one}/file`),
        () => portal(one, 'share', { visibility: 'public' }, other),
        () => portal(one, 'erase', {}, other),
        () => page(`/receipts/${one}`, other),
        () => other.call(`/receipts/${one}/file`, { headers: { accept: 'application/json' } }),
      ]
      for (const [i, door] of doors(unknownReceipt).entries()) {
        const [here, there] = [await door(), (await doors(id)[i]?.()) as Response]
        expect([i, here.status]).toEqual([i, 404])
        // The page names its own address once: where the colours are changed.
        expect(await tellsOf(there)).toBe((await tellsOf(here)).replaceAll(unknownReceipt, id))
      }
      for (const odd of ['rcpt_x', 'x', `rcpt_${'0'.repeat(25)}`, '%00']) {
        for (const door of doors(odd)) expect((await door()).status).toBe(404)
      }
      expect(await auditsOf(s.w, id)).toEqual([])
    })

    test('without a session is a 401 or the way to the sign-in', async () => {
      const id = await s.ask('nobody')
      const nobody = browser(s.w)
      for (const path of ['', `/${id}`, `/${id}/file`]) {
        const answer = await nobody.call(`/api/portal/receipts${path}`)
        expect([answer.status, (await answer.json()).error.type]).toEqual([401, 'session_required'])
      }
      for (const action of ['share', 'erase']) {
        const answer = await portal(id, action, {}, nobody)
        expect([answer.status, (await answer.json()).error.type]).toEqual([401, 'session_required'])
      }
      const asked = await page(`/dashboard/receipts/${id}`, nobody)
      expect([asked.status, asked.headers.get('location')]).toEqual([
        303,
        expect.stringContaining('/signin?next='),
      ])
    })
  })

  describe('POST /api/portal/receipts/:id/share', () => {
    test('shows what was ticked, and takes it back at once', async () => {
      const id = await s.ask('shared')
      const shared = await form(id, { visibility: 'public', sections: '', 'sections.run': 'true' })
      expect([shared.status, shared.headers.get('location')]).toEqual([
        303,
        `/dashboard/receipts/${id}#share`,
      ])
      const html = await (await s.w.call(`/receipts/${id}`, { headers: asPage })).text()
      expect(html).toContain('counterfoil/echo-1')
      expect(html).toContain('hidden by the owner')
      expect(html).not.toContain(testAccount)
      const file: ReceiptFile = await (await s.w.call(`/receipts/${id}/file`)).json()
      expect(file.receipt.charge).toHaveProperty('$hash')
      expect(file).not.toHaveProperty('disclosures')
      expect((await auditsOf(s.w, id)).map(({ actor }) => actor)).toEqual([testAccount])
      expect((await form(id, { visibility: 'private' })).status).toBe(303)
      for (const path of ['', '/file']) {
        expect((await s.w.call(`/receipts/${id}${path}`)).status).toBe(404)
      }
    })

    test('takes the form’s fields as JSON too, and a form without sections shows the usual', async () => {
      const id = await s.ask('usual')
      const answer = await portal(id, 'share', { visibility: 'unlisted' })
      expect(await answer.json()).toMatchObject({
        visibility: 'unlisted',
        sections: ['passport', 'run', 'charge'],
        url: `${s.w.origin}/receipts/${id}`,
      })
      await form(id, { visibility: 'public' })
      const { share } = await (await own.call(`/api/portal/receipts/${id}`)).json()
      expect(share).toMatchObject({ visibility: 'public', sections: ['passport', 'run', 'charge'] })
      await form(id, { visibility: 'public', sections: 'content,run' })
      const later = await (await own.call(`/api/portal/receipts/${id}`)).json()
      expect(later.share.sections).toEqual(['run', 'content'])
      expect((await s.w.call(`/receipts/${id}`)).headers.get('x-robots-tag')).toBeNull()
      await form(id, { visibility: 'unlisted' })
      expect((await s.w.call(`/receipts/${id}`)).headers.get('x-robots-tag')).toBe('noindex')
    })

    test('reveals a pasted text that opens the commitment, and says in place why another does not', async () => {
      const id = await s.ask('pasted')
      const wish = { visibility: 'public', 'reveal.input': 'true' }
      const pasted = (text: string) => form(id, { ...wish, 'disclosures.input.value': text })
      for (const [text, status, words] of [
        ['{"model":', 400, 'This is not JSON.'],
        [JSON.stringify(bodyOf('other')), 422, 'This is not the input'],
        ['', 422, 'was not stored'],
      ] as const) {
        const refused = await pasted(text)
        const html = await refused.text()
        expect([refused.status, html.includes(words)]).toEqual([status, true])
        expect(html).toContain('aria-invalid="true"')
      }
      expect((await s.w.call(`/receipts/${id}`)).status).toBe(404)
      expect((await pasted(JSON.stringify(bodyOf('pasted'), null, 2))).status).toBe(303)
      const shown = await s.shown(id)
      expect(shown.disclosures?.input?.value).toEqual(bodyOf('pasted'))
      const html = await (await s.w.call(`/receipts/${id}`, { headers: asPage })).text()
      expect(html).toContain('Shown text is the one committed to')
    })

    test('answers htmx with its panels, a refusal too', async () => {
      const id = await s.ask('panels')
      const headers = { 'hx-request': 'true' }
      const ask = (json: object) => own.call(`/api/portal/receipts/${id}/share`, { json, headers })
      expect(await (await ask({ visibility: 'public' })).text()).toStartWith('<div class="stack')
      const refused = await ask({ visibility: 'everybody' })
      expect([refused.status, await refused.text()]).toEqual([
        400,
        expect.stringContaining('role="alert"'),
      ])
    })
  })

  describe('POST /api/portal/receipts/:id/erase', () => {
    test('first says what goes, then it is gone; not while it is public', async () => {
      const id = await s.ask('gone')
      await form(id, { visibility: 'public' })
      const refused = await form(id, {}, 'erase')
      expect([refused.status, await refused.text()]).toEqual([
        409,
        expect.stringContaining('Make it private first'),
      ])
      expect((await portal(id, 'erase')).status).toBe(409)
      await form(id, { visibility: 'private' })
      const asked = await (await page(`/dashboard/receipts/${id}/erase`)).text()
      expect(asked).toContain('This deletes 1 thing for good and cannot be undone.')
      const erased = await form(id, {}, 'erase')
      expect([erased.status, erased.headers.get('location')]).toEqual([
        303,
        `/dashboard/receipts/${id}`,
      ])
      const html = await (await page(`/dashboard/receipts/${id}`)).text()
      expect(html).toContain('were erased')
      expect(html).toContain('Signature is from this service')
      expect(await (await portal(id, 'erase')).json()).toMatchObject({ receipt_id: id })
    })
  })
})
