import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { receiptSvg } from '../../../src/proof/receipts/api/receipt-picture.ts'
import { judgeStored } from '../../../src/proof/receipts/judge.ts'
import { sharedFileOf } from '../../../src/proof/receipts/receipt-file.ts'
import { picture, text } from '../../../src/web/pictures/drawing.ts'
import { keptBytes, makePictures, waitingMax } from '../../../src/web/pictures/pictures.ts'
import { startRenderer } from '../../../src/web/pictures/renderer.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { type SharingWorld, sharingWorld, tellsOf, unknownReceipt } from '../../support/sharing.ts'

/** Width and height of a PNG, from its first chunk. */
async function sizeOf(answer: Response): Promise<[number, number]> {
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(bytes.subarray(1, 4).toString()).toBe('PNG')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

const numbered = (n: number): string => picture(text(40, 90, `Number ${n}`, { size: 40 }))

describe('the pictures of links', () => {
  let s: SharingWorld
  let shared = ''
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
    shared = await s.ask('shown to the world')
    await s.share(shared, { visibility: 'public' })
  }, 60_000)
  afterAll(() => s?.w.stop())

  const pathOf = (id: string): string => `/receipts/${id}/picture.png`

  test('are PNGs of 1200 x 630 px that a page names by absolute addresses', async () => {
    for (const path of ['/', `/receipts/${shared}`]) {
      const html = await (await s.w.call(path, { headers: { accept: 'text/html' } })).text()
      const named = /<meta property="og:image" content="([^"]+)">/.exec(html)?.[1] ?? ''
      expect(named).toStartWith(s.w.origin)
      expect(html).toContain(`<meta name="twitter:image" content="${named}">`)
      expect(html).toContain('<meta name="twitter:card" content="summary_large_image">')
      const answer = await fetch(named)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(answer.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
      expect(await sizeOf(answer)).toEqual([1200, 630])
    }
  }, 60_000)

  test('are asked for again each time, and not sent to who has them', async () => {
    const first = await s.w.call(pathOf(shared))
    const etag = first.headers.get('etag') ?? ''
    expect([etag.length > 30, first.headers.get('cache-control')]).toEqual([true, 'no-cache'])
    const again = await s.w.call(pathOf(shared), { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  }, 60_000)

  promise`C18 H: A link picture shows nothing that an owner hides; a private receipt has none.`
  test('of a private receipt are what those of an unknown one are, also after it was shared', async () => {
    const id = await s.ask('for me alone')
    const asProgram = { accept: 'application/json' }
    const ask = (which: string, headers: Record<string, string> = {}) =>
      s.w.call(pathOf(which), { headers: { ...asProgram, ...headers } })
    const unknown = await tellsOf(await ask(unknownReceipt))
    expect(await tellsOf(await ask(id))).toBe(unknown)
    await s.share(id, { visibility: 'unlisted' })
    const answer = await ask(id)
    expect([answer.status, answer.headers.get('x-robots-tag')]).toEqual([200, 'noindex'])
    const headers = { 'if-none-match': answer.headers.get('etag') ?? '' }
    await s.share(id, { visibility: 'private' })
    expect(await tellsOf(await ask(id, headers))).toBe(unknown)
  }, 60_000)

  promise`C18`
  test('show nothing that the owner hides, and never who paid', async () => {
    const svgOf = async (sections: string[]) => {
      await s.share(shared, { visibility: 'public', sections })
      const { deps } = s.w
      const [stored, share] = [await deps.receipts.find(shared), await deps.shares.find(shared)]
      if (!stored || !share) throw new Error('the receipt is not shared')
      return receiptSvg(await judgeStored(deps, stored, await sharedFileOf(deps, stored, share)))
    }
    const open = await svgOf(['run', 'charge', 'subject', 'passport', 'content'])
    expect(open).toContain('counterfoil/echo-1')
    expect(open).toMatch(/>\$\d+\.\d\d</)
    expect(open).not.toContain(s.key.id)
    expect(open.toLowerCase()).not.toContain(s.key.accountId.slice(2, 12))
    const closed = await svgOf(['passport'])
    expect(closed).not.toContain('echo-1')
    expect(closed).not.toMatch(/\$/)
    expect(closed).not.toMatch(/Verified/)
    await s.share(shared, { visibility: 'public', sections: ['run', 'charge', 'passport'] })
  })
})

describe('drawing', () => {
  test('fifty at once draw one at a time, and no more wait than may', async () => {
    let atOnce = 0
    let most = 0
    const pictures = makePictures(async () => {
      const renderer = await startRenderer()
      return {
        ...renderer,
        draw: async (svg) => {
          most = Math.max(most, ++atOnce)
          try {
            return await renderer.draw(svg)
          } finally {
            atOnce--
          }
        },
      }
    })
    const asked = Array.from({ length: 50 }, (_, n) =>
      pictures.png(numbered(n)).then(
        () => 'drawn',
        (error: unknown) => (error instanceof Refusal ? error.type : String(error)),
      ),
    )
    const said = await Promise.all(asked)
    expect(said.filter((one) => one === 'drawn')).toHaveLength(waitingMax)
    expect(said.filter((one) => one === 'unavailable')).toHaveLength(50 - waitingMax)
    expect([most, pictures.drawn]).toEqual([1, waitingMax])
    expect(pictures.bytes).toBeLessThanOrEqual(keptBytes)
  }, 120_000)

  test('fifty who ask for the same picture share one drawing, and later ones have it', async () => {
    const pictures = makePictures()
    const all = await Promise.all(Array.from({ length: 50 }, () => pictures.png(numbered(0))))
    expect(new Set(all).size).toBe(1)
    await pictures.png(numbered(0))
    expect(pictures.drawn).toBe(1)
  }, 60_000)

  test('what is kept stays within its bytes', async () => {
    const half = new Uint8Array(Math.floor(keptBytes / 2.5))
    const pictures = makePictures(async () => ({ draw: async () => half, stop: () => undefined }))
    for (const n of [1, 2, 3, 4]) await pictures.png(numbered(n))
    expect(pictures.bytes).toBe(2 * half.byteLength)
    await pictures.png(numbered(4))
    expect(pictures.drawn).toBe(4)
    await pictures.png(numbered(1))
    expect(pictures.drawn).toBe(5)
  })

  test('a drawing that fails says so, and the next one has a new thread', async () => {
    const pictures = makePictures()
    const error = await rejectionOf(pictures.png('<svg'))
    expect(String(error)).toContain('the renderer failed')
    expect((await pictures.png(numbered(7))).byteLength).toBeGreaterThan(500)
  }, 60_000)
})
