import { crc32, deflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { pngUrl } from '../front/console/support.ts'
import { chunkOf } from '../support/runs.ts'
import type { StubHandler } from '../support/stub-upstream.ts'
import { payloads } from '../web/ui/payloads.ts'

export const bad = '</pre></details><img src=x onerror=alert(1)>'
export const elsewhere = 'https://elsewhere.example/pixel.png'
const script = 'data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+'
export const reasons = ['The chart ', 'has one bar, ', 'so the answer is short.']
const args = '{"city":"Reykjavík","days":[1,2],"id":12345678901234567890}'
/** A chart of bars that can be seen in a screenshot. */
function drawPng(width: number, height: number): Uint8Array {
  const rows = Buffer.alloc((width * 3 + 1) * height, 240)
  for (let y = 0; y < height; y++) {
    rows[y * (width * 3 + 1)] = 0
    for (let x = 0; x < width; x++) {
      const isBar = x % 24 < 16 && height - y < 20 + ((x / 24) | 0) * 12
      if (isBar) rows.set([20, 110, 70], y * (width * 3 + 1) + 1 + x * 3)
    }
  }
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0])
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10])
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.of())]
  return Buffer.concat([start, ...parts])
}

export const drawn = drawPng(240, 150)
export const drawnUrl = `data:image/png;base64,${Buffer.from(drawn).toString('base64')}`

const call = (index: number, fn: object, id?: string) => ({
  tool_calls: [{ index, ...(id && { id, type: 'function' }), function: fn }],
})

/** Reasons, speaks, calls two tools, draws; every part holds markup that must stay text. */
export const speak: StubHandler = async ({ body }, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta: object) => response.write(chunkOf(delta))
  const isHostile = body['model'] === 'hostile'
  for (const reason of isHostile ? payloads : reasons) send({ reasoning_content: reason })
  send({ content: isHostile ? bad : 'One bar, ' })
  if (!isHostile) send({ content: 'at seven.' })
  if (body['model'] === 'breaks') return void response.end()
  if (body['model'] === 'endless') {
    while (!response.destroyed) {
      send({ reasoning_content: ' and on' })
      await Bun.sleep(5)
    }
  }
  if (body['model'] !== 'reasons') {
    send(call(0, { name: isHostile ? bad : 'get_weather', arguments: '' }, 'c1'))
    send(call(0, { arguments: isHostile ? JSON.stringify({ a: bad }) : args.slice(0, 12) }))
    if (!isHostile) send(call(0, { arguments: args.slice(12) }))
    send(call(1, { name: 'now', arguments: '{}' }, 'c2'))
    const urls = isHostile ? [script, elsewhere, `${pngUrl}" onerror="alert(1)`] : [drawnUrl]
    send({ images: urls.map((url) => ({ type: 'image_url', image_url: { url } })) })
  }
  response.end(`${chunkOf({}, 'stop')}data: [DONE]\n\n`)
}

export const sees = 'image_tokens_max = 1600\npage_tokens_max = 100\npdf_pages_max = 2'
export const file = (name: string, buffer: Uint8Array = drawn) => ({
  name,
  mimeType: 'image/png',
  buffer: Buffer.from(buffer),
})

export const choose = (page: Page, model: string) =>
  page.getByLabel('Model', { exact: true }).selectOption(model)
export const ask = async (page: Page, model: string, text = 'What is it?') => {
  await choose(page, model)
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}
export const done = (page: Page) => page.locator('#run-state').getByText('Done').waitFor()
export const names = (page: Page) =>
  page.locator('#chosen img').evaluateAll((all) => all.map((one) => one.getAttribute('alt')))
/** Gives the page files as a paste or a drop does. */
export const hand = (
  page: Page,
  how: 'paste' | 'drop',
  files: [name: string, data: string][],
  text = '',
) =>
  page.evaluate(
    ([how, files, text]) => {
      const data = new DataTransfer()
      for (const [name, base64] of files) {
        const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
        data.items.add(new File([bytes], name))
      }
      if (text) data.setData('text/plain', text)
      const more = { bubbles: true, cancelable: true }
      const event =
        how === 'paste'
          ? new ClipboardEvent('paste', { ...more, clipboardData: data })
          : new DragEvent('drop', { ...more, dataTransfer: data })
      document.querySelector('#input')?.dispatchEvent(event)
      return event.defaultPrevented
    },
    [how, files, text] as const,
  )

/** Markdown in pieces that end in the middle of its marks. */
export const marked = [
  '# Head\n\nPla',
  'in **bo',
  'ld** [a link](https://exa',
  'mple.com/a?b=1&c=2) [bad](javascript:alert(1)) [x](https://"onmouseover=alert(1))\n\n```ht',
  'ml\n<b onclick="alert(1)">&amp;</b>\n```\n\n- one\n- t',
  'wo\n\n<img src=x onerror=alert(1)>',
]

/** What an answer is made of beside the few elements and attributes that Markdown may become. */
export const madeOf = (page: Page) =>
  page.locator('.talk .it *').evaluateAll((all) =>
    all.flatMap((one) => {
      const known = ['P', 'STRONG', 'EM', 'CODE', 'A', 'UL', 'OL', 'LI', 'DIV', 'PRE', 'HR']
      const more = [
        'SMALL',
        'DEL',
        'BR',
        'SECTION',
        'TABLE',
        'THEAD',
        'TBODY',
        'TR',
        'TH',
        'TD',
        'INPUT',
      ]
      if (![...known, ...more, 'BLOCKQUOTE', 'BUTTON'].includes(one.tagName)) return [one.outerHTML]
      if (one instanceof HTMLAnchorElement && !/^https?:\/\//.test(one.href)) return [one.href]
      const names = [
        'class',
        'href',
        'rel',
        'target',
        'start',
        'tabindex',
        'type',
        'data-copy',
        'scope',
        'aria-label',
        'checked',
        'disabled',
      ]
      return one.getAttributeNames().filter((name) => !names.includes(name))
    }),
  )
