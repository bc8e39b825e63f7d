import { describe, expect, test } from 'bun:test'
import type { Json } from '../../src/kernel/canonical.ts'
import { Refusal } from '../../src/kernel/refusal.ts'
import { boundOf, forwardBody } from '../../src/models/bound.ts'
import { echoModel } from '../../src/models/builtins.ts'
import { makeCatalogue, toModelView } from '../../src/models/catalogue.ts'
import { maxMediaBytes } from '../../src/models/media.ts'
import type { Model } from '../../src/models/model.ts'
import { promise } from '../support/promise.ts'

const blind: Model = {
  ...echoModel,
  id: 'acme/blind',
  verifiable: 'none',
  contextTokens: 1_000_000,
  overhead: { perMessage: 16, fixed: 64 },
}
const seeing: Model = { ...blind, id: 'acme/seeing', imageTokensMax: 1600, pageTokensMax: 3000 }

const png = '\x89PNG\r\n\x1a\n'
const files = {
  'image/png': `${png}rest`,
  'image/jpeg': '\xff\xd8\xff\xe0rest',
  'image/gif': 'GIF89a rest',
  'image/webp': 'RIFF\x10\x00\x00\x00WEBPVP8 ',
}
const dataOf = (type: string, bytes: string) =>
  `data:${type};base64,${Buffer.from(bytes, 'latin1').toString('base64')}`
const image = (url: Json, more = {}) => ({ type: 'image_url', image_url: { url, ...more } })
const pdf = (data: Json) => ({ type: 'file', file: { filename: 'a.pdf', file_data: data } })
const aPdf = dataOf('application/pdf', '%PDF-1.7\n')
const say = (...content: Json[]) => ({ messages: [{ role: 'user', content }] })

function refusalOf(body: { messages: Json }, model = seeing) {
  try {
    boundOf(model, body)
  } catch (error) {
    if (error instanceof Refusal) return `${error.detail.param}: ${error.message}`
    throw error
  }
  throw new Error('it was not refused')
}

describe('an image or a PDF in a chat', () => {
  test.each(Object.entries(files))(
    '%s is bounded by its tokens, not by its bytes',
    (type, bytes) => {
      const small = boundOf(seeing, say(image(dataOf(type, bytes))))
      const large = boundOf(seeing, say(image(dataOf(type, bytes + 'x'.repeat(100_000)))))
      expect(large).toEqual(small)
      expect(small.countedMedia).toBe(1600)
      expect(small.inputTokens).toBe(small.inputBytes + 1600 + 16 + 64)
      expect(small.inputBytes).toBeLessThan(120)
    },
  )

  test('each counts, and text beside it too', () => {
    const one = image(dataOf('image/png', files['image/png']), { detail: 'low' })
    const alone = boundOf(seeing, say(one))
    const both = boundOf(seeing, say(one, { type: 'text', text: 'x'.repeat(500) }, one, pdf(aPdf)))
    expect(both.inputTokens).toBe(both.inputBytes + 2 * 1600 + 100 * 3000 + 16 + 64)
    expect(both.countedMedia).toBe(2 * 1600 + 3000)
    expect(both.inputBytes).toBeGreaterThan(alone.inputBytes + 500)
  })

  test('hides no text: unknown members count by their bytes', () => {
    const one = image(dataOf('image/png', files['image/png']), { note: 'y'.repeat(900) })
    expect(boundOf(seeing, say(one)).inputBytes).toBeGreaterThan(900)
  })

  promise`D30`
  test('a PDF is held for as many pages as the model server takes', () => {
    const claims = dataOf('application/pdf', '%PDF-1.7\n<< /Type /Pages /Count 1 >>')
    const most = (model: Model) => {
      const { inputTokens, inputBytes } = boundOf(model, say(pdf(claims)))
      return inputTokens - inputBytes - 16 - 64
    }
    expect(most(seeing)).toBe(300_000)
    expect(most({ ...seeing, pdfPagesMax: 20 })).toBe(60_000)
    const short = { ...seeing, contextTokens: 8000 }
    expect(boundOf(short, say(pdf(claims))).inputTokens).toBe(7999)
  })

  test('a PDF without a report counts as the pages it shows, or by its size, up to the most', () => {
    const counted = (text: string) =>
      boundOf(seeing, say(pdf(dataOf('application/pdf', `%PDF-1.7${text}`)))).countedMedia
    expect(counted('')).toBe(3000)
    expect(counted('<</Type/Page>> <</Type /Page /A 1>> <</Type /Pages>>')).toBe(2 * 3000)
    expect(counted('x'.repeat(200_000))).toBe(7 * 3000)
    expect(counted('/Type/Page '.repeat(900))).toBe(100 * 3000)
  })

  test('goes upstream as it came', () => {
    const body = say(image(dataOf('image/png', files['image/png'])), pdf(aPdf))
    boundOf(seeing, body)
    const sent = forwardBody(seeing, body, { upstream: 'u', model: 'm' }, 10)
    expect(sent['messages']).toEqual(body.messages)
  })
})

describe('is refused by name', () => {
  const at = 'messages[0].content[0]'
  const ok = dataOf('image/png', files['image/png'])

  test('an image and a PDF for a model without a bound', () => {
    expect(refusalOf(say(image(ok)), blind)).toBe(
      `${at}: acme/blind takes no images here: their tokens have no bound. Send text.`,
    )
    expect(refusalOf(say(pdf(aPdf)), { ...seeing, pageTokensMax: undefined })).toContain(
      'takes no files here',
    )
  })

  test('an address, which is never fetched', () => {
    for (const url of ['https://example.com/a.png', 'http://127.0.0.1/', 'file:///etc/passwd']) {
      expect(refusalOf(say(image(url)))).toBe(
        `${at}.image_url.url: Send the bytes as a data: URL (PNG, JPEG, GIF, WebP): ` +
          'no address is fetched here.',
      )
    }
  })

  test.each<[string, Json]>([
    ['no object', { type: 'image_url', image_url: ok }],
    ['no url', { type: 'image_url', image_url: {} }],
    ['another type', image(dataOf('image/svg+xml', '<svg/>'))],
    ['a type with parameters', image(ok.replace(';base64', ';charset=x;base64'))],
    ['no base64', image('data:image/png,abc')],
    ['nothing in it', image('data:image/png;base64,')],
    ['letters that are not of base64', image(`${ok.slice(0, -4)}!!!!`)],
    ['letters of another base64', image(`${ok.slice(0, -4)}-_-_`)],
    ['a length that is not of base64', image(`${ok}A`)],
    ['padding inside', image(`${ok.slice(0, 30)}==${ok.slice(32)}`)],
    ['bytes of another type', image(dataOf('image/png', files['image/gif']))],
    ['a PDF as an image', image(aPdf)],
    ['an image as a file', pdf(ok)],
    ['a file of another type as a PDF', pdf(dataOf('application/pdf', 'MZ %PDF-'))],
    ['a file by its id', { type: 'file', file: { file_id: 'file-1' } }],
    ['sound', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    ['a RIFF of sound as WebP', image(dataOf('image/webp', 'RIFF\x10\x00\x00\x00WAVEfmt '))],
  ])('The part is refused and named: %s.', (_, part) => {
    expect(refusalOf(say(part))).toStartWith(at)
  })

  test('more bytes than a part may have', () => {
    const letters = 'A'.repeat(Math.ceil(maxMediaBytes / 3) * 4 + 4)
    const head = Buffer.from(`${png}x`, 'latin1').toString('base64')
    expect(refusalOf(say(image(`data:image/png;base64,${head}${letters}`)))).toContain('20 MiB')
  })
})

describe('the features of a model', () => {
  const viewOf = (more: object) => {
    const config = {
      id: 'acme/a',
      kind: 'chat' as const,
      route: ['local:a'],
      context_tokens: 1000,
      max_output_tokens: 100,
      input_pusd: 1,
      output_pusd: 1,
      ...more,
    }
    const model = makeCatalogue({ models: [config], upstreamIds: ['local'] }).get('acme/a')
    if (!model) throw new Error('no model')
    return toModelView(model)
  }

  test('have vision and files by the bounds alone', () => {
    expect(viewOf({}).features).toEqual(['streaming'])
    expect(viewOf({ features: ['tools', 'vision'] }).features).toEqual(['tools'])
    expect(viewOf({ image_tokens_max: 900 }).features).toEqual(['streaming', 'vision'])
    const both = { features: ['vision', 'tools'], image_tokens_max: 9, page_tokens_max: 9 }
    expect(viewOf(both).features).toEqual(['tools', 'vision', 'files'])
  })

  test('and the bounds are shown', () => {
    expect(viewOf({}).input_bound).toEqual({
      bytes_per_token: 1,
      tokenizer: null,
      image_tokens_max: null,
      pdf_tokens_max: null,
    })
    const all = {
      tokenizer: 'o200k_base',
      hold_bytes_per_token: 3,
      image_tokens_max: 1600,
      page_tokens_max: 3000,
      pdf_pages_max: 20,
    }
    expect(viewOf(all).input_bound).toEqual({
      bytes_per_token: 3,
      tokenizer: 'o200k_base',
      image_tokens_max: 1600,
      pdf_tokens_max: 60_000,
    })
  })
})
