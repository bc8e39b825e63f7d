import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ReceiptFile } from '../../../src/verify/receipt.ts'
import { redact, sectionNames } from '../../../src/verify/receipt.ts'
import { promise } from '../../support/promise.ts'
import { bodyOf, type SharingWorld, sharingWorld, unknownReceipt } from '../../support/sharing.ts'
import { engines, testAccount } from '../../support/world.ts'

const asPage = { accept: 'text/html' }
const signer = testAccount

describe.each(engines)('/verify on %s', (engine) => {
  let s: SharingWorld
  let id = ''
  let file: ReceiptFile
  beforeAll(async () => {
    s = await sharingWorld(engine)
    id = await s.ask('looked at')
    await s.share(id, { visibility: 'unlisted' })
    file = await s.shown(id)
  }, 60_000)
  afterAll(() => s?.w.stop())

  const send = async (fields: Record<string, string | Blob>) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    const init: RequestInit = { method: 'POST', headers: asPage, body, redirect: 'manual' }
    const answer = await s.w.call('/verify', init)
    return { status: answer.status, to: answer.headers.get('location'), html: await answer.text() }
  }
  const paste = (text: string, signers = '') => send({ text, signers })
  const headline = (html: string) => /class="verdict \w+">([^<]+)</.exec(html)?.[1]
  const fault = (html: string) => /id="text-error"[^>]*>([^<]*)</.exec(html)?.[1]

  describe('POST', () => {
    test('a file that is sent is judged, and its slip says by whom in plain type', async () => {
      const { status, html } = await send({
        file: new Blob([JSON.stringify(file)], { type: 'application/json' }),
        text: '',
      })
      expect([status, headline(html)]).toEqual([200, 'Signed and logged'])
      expect(html).toContain('Receipt is in the log')
      expect(html).toContain('Checked by the server.')
      expect(html).toContain('<p class="serverword">Checked by the server')
      expect(html).not.toContain('stampmark')
      expect(html).toContain('noindex')
    })

    test('one that is pasted too, also as a plain form, and a private one', async () => {
      const own = await s.own(await s.ask('private'))
      const { visibility: _, ...whole } = own
      const init: RequestInit = {
        method: 'POST',
        headers: { ...asPage, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ text: JSON.stringify(whole) }).toString(),
      }
      const answer = await s.w.call('/verify', init)
      expect([answer.status, headline(await answer.text())]).toEqual([200, 'Signed and logged'])
    })

    test('a proof of liabilities is told where it is checked', async () => {
      const { status, html } = await paste('{"type":"counterfoil.liabilities"}')
      expect(status).toBe(422)
      expect(fault(html)).toStartWith('This is a proof of liabilities: the offline page')
    })

    test('a changed one is not valid, and it is said what was expected and found', async () => {
      const changed = JSON.stringify(file).replace(/"durationMs":"\d+"/, '"durationMs":"987654"')
      const { status, html } = await paste(changed)
      expect([status, headline(html)]).toEqual([200, 'Not valid'])
      expect(html).toContain('A field was changed')
      expect(html).toMatch(/expected 0x\w+ from the fields; found 0x\w+/)
      expect(html).toContain('class="stampmark bad"')
    })

    test('whom someone trusts is theirs to say', async () => {
      const text = JSON.stringify(file)
      expect(headline((await paste(text, signer)).html)).toBe('Signed and logged')
      const other = `0x${'1'.repeat(40)}`
      expect(headline((await paste(text, other)).html)).toBe('Not valid')
      const { status, html } = await paste(text, `${signer}, nobody`)
      expect(status).toBe(422)
      expect(html).toContain('These are not all addresses')
      expect(html).toContain('nobody')
    })

    test('an id or a link leads to the receipt, if it is shared', async () => {
      for (const text of [id, `${s.w.origin}/receipts/${id}`, `${s.w.origin}/r/${id}`]) {
        expect(await paste(text)).toMatchObject({ status: 303, to: `/receipts/${id}` })
      }
      const hidden = await s.ask('nobody sees it')
      const [known, unknown] = [await paste(hidden), await paste(unknownReceipt)]
      expect([known.status, unknown.status]).toEqual([404, 404])
      expect(fault(known.html)).toBe(fault(unknown.html) ?? '')
      expect(fault(known.html)).toContain('No receipt with this id is shared here')
    })

    test('422 for what is none; another service is never asked', async () => {
      for (const text of ['', 'junk', '{}', `https://other.example/receipts/${id}`]) {
        const { status, html } = await paste(text)
        expect([status, (fault(html) ?? '').length > 20]).toEqual([422, true])
        expect(headline(html)).toBeUndefined()
      }
    })

    test('what a hostile file holds stays text', async () => {
      const evil = '</script><img src=x onerror=alert(1)>'
      const bad = { ...file, receipt: { ...file.receipt, id: evil, issuer: evil } }
      for (const text of [
        JSON.stringify(bad),
        evil,
        `{"type":"counterfoil.receipt","receipt":{}}`,
      ]) {
        const { html } = await paste(text)
        expect(html).not.toContain('<img')
      }
      const late = { ...file, receipt: { ...file.receipt, issuedAt: '18446744073709551615' } }
      expect((await paste(JSON.stringify(late))).status).toBe(200)
    })

    promise`G6`
    test('413 above a MiB, 400 for a form that is cut, 415 for another kind', async () => {
      expect((await paste('x'.repeat(1024 * 1024 + 1))).status).toBe(413)
      const call = (type: string, body: string) =>
        s.w.call('/verify', { method: 'POST', headers: { 'content-type': type }, body })
      expect((await call('multipart/form-data; boundary=a', '--a\r\nbroken')).status).toBe(400)
      expect((await call('text/plain', 'text=1')).status).toBe(415)
    })
  })

  describe('POST /verify/chain', () => {
    test('takes a file of hashes alone, and says nothing where there is no chain', async () => {
      const { disclosures: _, ...rest } = file
      const hashes = { ...rest, receipt: redact(file.receipt, sectionNames) }
      const answer = await s.w.call('/verify/chain', { json: hashes })
      expect([answer.status, await answer.json()]).toEqual([200, { chain: null }])
      expect((await s.w.call('/verify/chain', { json: bodyOf('none') })).status).toBe(422)
    })
  })
})
