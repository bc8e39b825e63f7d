import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import {
  expectSettled,
  lastRun,
  modelToml,
  pricedBuiltins,
  upstreamToml,
} from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { type World, world } from '../../support/world.ts'
import {
  askByStream,
  pdfBytes,
  pdfUrl,
  pngBytes,
  pngUrl,
  postFiles,
  readable,
  runPath,
  signedIn,
} from './support.ts'

const png = new File([pngBytes], 'chart.png', { type: 'image/png' })
const pdf = new File([pdfBytes], 'paper.pdf', { type: 'application/pdf' })

const sees = 'image_tokens_max = 1600\npage_tokens_max = 20\npdf_pages_max = 2'

describe('files of a message to the console', () => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let own: Browser
  beforeAll(async () => {
    stub = await startStubUpstream()
    const models = [
      modelToml('stub/sees', '"stub:normal"', sees),
      modelToml('stub/blind', '"stub:normal"'),
    ]
    w = await world({
      toml: `${pricedBuiltins}${upstreamToml('stub', stub.url)}${models.join('')}[limits]\nbody_bytes = 65536\n`,
    })
    own = await signedIn(w)
  })
  afterAll(async () => {
    await w?.stop()
    await stub?.stop()
  })

  const fields = { model: 'stub/sees', input: 'What is it?', max_output_tokens: '', turns: '[]' }
  const sentMessages = () => stub.calls.at(-1)?.body['messages'] as { content: unknown }[]
  const lastMessage = () => sentMessages().at(-1)?.content

  promise`D30`
  test('as JSON: they go to the model in front of the text, and the hold bounds them', async () => {
    const files = [
      { name: 'chart.png', data: pngUrl },
      { name: 'paper.pdf', data: pdfUrl },
    ]
    const asked = { model: 'stub/sees', input: 'What?', max_output_tokens: 10 }
    await askByStream(own, asked)
    const { hold } = await lastRun(w)
    await askByStream(own, { ...asked, files })
    expect(lastMessage()).toEqual([
      { type: 'image_url', image_url: { url: pngUrl } },
      { type: 'file', file: { filename: 'paper.pdf', file_data: pdfUrl } },
      { type: 'text', text: 'What?' },
    ])
    const more = (await lastRun(w)).hold - hold
    // 1,600 tokens of the image and two pages of 20, at 1,000 nano-USD, and the bytes around them.
    expect(more).toBeGreaterThan(1_640_000n)
    expect(more).toBeLessThan(1_640_000n + 300_000n)
    await expectSettled(w)
  })

  test('as a form: the page shows them again, and they go along with the next question', async () => {
    const answer = await postFiles(own, w, fields, [png, pdf, new File([], '')])
    expect(answer.status).toBe(200)
    const html = await answer.text()
    expect(html).toContain(`<img class="thumb" src="${pngUrl}" alt="chart.png">`)
    expect(readable(html)).toContain('paper.pdf, 1 kB')
    expect(lastMessage()).toMatchObject([
      { image_url: { url: pngUrl } },
      { file: { file_data: pdfUrl } },
      { text: 'What is it?' },
    ])
    const turns = /name="turns" value="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? ''
    const next = await postFiles(own, w, { ...fields, input: 'And?', turns }, [])
    expect(next.status).toBe(200)
    expect(sentMessages()).toHaveLength(3)
    expect(sentMessages()[0]?.content).toHaveLength(3)
    expect(lastMessage()).toBe('And?')
  })

  test('a model that takes none says so, before a hold; text and files stay on the page', async () => {
    const before = (await lastRun(w)).id
    const answer = await postFiles(own, w, { ...fields, model: 'stub/blind' }, [png])
    expect(answer.status).toBe(400)
    const html = await answer.text()
    expect(readable(html)).toContain('stub/blind takes no images. Remove "chart.png"')
    expect(html).toMatch(/<textarea[^>]*name="input"[^>]*>What is it\?<\/textarea>/)
    const [box, kept] = /type="checkbox" name="file_0" value="([^"]*)" checked/.exec(html) ?? []
    expect(box).toBeDefined()
    const file_0 = kept?.replaceAll('&quot;', '"') ?? ''
    expect(JSON.parse(file_0)).toEqual({ name: 'chart.png', data: pngUrl })
    expect((await lastRun(w)).id).toBe(before)
    // Its box is ticked: it is sent again, to a model that takes it.
    expect((await postFiles(own, w, { ...fields, file_0 }, [])).status).toBe(200)
    expect(lastMessage()).toMatchObject([{ image_url: { url: pngUrl } }, { type: 'text' }])
  })

  test.each<[what: string, files: File[], words: string]>([
    ['a file of another type', [new File(['hello'], 'a.png')], '"a.png" is not a PNG, JPEG'],
    ['more files than fit', Array(9).fill(png), 'A message takes at most 8 files.'],
    [
      'larger ones than fit',
      [new File([pngBytes, new Uint8Array(40_000)], 'big.png')],
      'The files have 40 kB together; 37 kB fit.',
    ],
  ])('%s: 400, and the text stays', async (_, files, words) => {
    const before = (await lastRun(w)).id
    const answer = await postFiles(own, w, fields, files)
    expect(answer.status).toBe(400)
    const html = await answer.text()
    expect(readable(html)).toContain(words)
    expect(html).toMatch(/<textarea[^>]*name="input"[^>]*>What is it\?<\/textarea>/)
    expect((await lastRun(w)).id).toBe(before)
  })

  test('a form above the limit of bodies: 413, and what was written before the file stays', async () => {
    const before = (await lastRun(w)).id
    const large = new File([pngBytes, new Uint8Array(600_000)], 'large.png')
    const turns = JSON.stringify([{ input: 'Before', output: 'Yes' }])
    const answer = await postFiles(own, w, { ...fields, turns }, [png, large])
    expect(answer.status).toBe(413)
    const html = await answer.text()
    expect(readable(html)).toContain('The files are too large: 37 kB fit')
    expect(html).toMatch(/<textarea[^>]*name="input"[^>]*>What is it\?<\/textarea>/)
    expect(html).toContain('<p class="you">Before</p>')
    expect((await lastRun(w)).id).toBe(before)
    // Sixteen times the limit is not read at all.
    const huge = new File([new Uint8Array(1_200_000)], 'huge.png')
    expect((await postFiles(own, w, fields, [huge])).status).toBe(413)
  })

  test.each<[what: string, more: object, param: string]>([
    ['nine', { files: Array(9).fill({ name: 'a', data: pngUrl }) }, 'files'],
    [
      'an address',
      { files: [{ name: 'a', data: 'https://h.example/a.png' }] },
      'messages[0].content[0].image_url.url',
    ],
    [
      'other bytes',
      { files: [{ name: 'a', data: 'data:image/png;base64,aGVsbG8=' }] },
      'messages[0].content[0].image_url.url',
    ],
    [
      'an image for a blind model',
      { model: 'stub/blind', files: [{ name: 'a', data: pngUrl }] },
      'files',
    ],
    [
      'an earlier image for a blind model',
      {
        model: 'stub/blind',
        turns: [{ input: 'a', output: 'b', files: [{ name: 'a', data: pngUrl }] }],
      },
      'files',
    ],
  ])('as JSON, %s: 400 before a hold', async (_, more, param) => {
    const before = (await lastRun(w)).id
    const answer = await own.call(runPath, { json: { model: 'stub/sees', input: 'a', ...more } })
    expect(answer.status).toBe(400)
    expect((await answer.json()).error).toMatchObject({ type: 'invalid_request', param })
    expect((await lastRun(w)).id).toBe(before)
  })
})
