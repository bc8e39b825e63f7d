import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type World, world } from '../../support/world.ts'
import { payloads } from '../../web/ui/payloads.ts'
import { readable } from '../console/support.ts'
import { believed, noon } from './support.ts'

describe('/terminal', () => {
  let w: World
  beforeAll(async () => {
    w = await world({ toml: `${believed}[terminal]\nasks_per_day = 2`, now: noon })
  })
  afterAll(() => w?.stop())

  const post = (command: string, from = '192.0.2.1', headers: Record<string, string> = {}) =>
    fetch(`${w.origin}/terminal`, {
      method: 'POST',
      headers: {
        accept: 'text/html',
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        'x-forwarded-for': from,
        ...headers,
      },
      body: new URLSearchParams({ command }),
    })

  test('is there for everybody, with all commands in sight and the field filled by a link', async () => {
    const answer = await w.call('/terminal?command=price%20a%2Fb')
    expect(answer.status).toBe(200)
    const html = await answer.text()
    expect(html).toContain('value="price a/b"')
    expect(html).toContain('<meta name="description"')
    expect(readable(html)).toContain('verify <receipt id>')
    expect(readable(html)).toContain('2 asks left today; new ones at 00:00 UTC.')
  })

  test('a form is answered by the page, with the way to the receipt', async () => {
    const html = await (await post('ask hello there')).text()
    expect(readable(html)).toContain('hello there\n\nReceipt rcpt_')
    expect(html).toMatch(/href="\/receipts\/rcpt_\w{26}"/)
    expect(html).toMatch(/data-command="verify rcpt_\w{26}"/)
    expect(readable(html)).toContain('1 ask left today')
  })

  test('what is refused has its status and its words in place, and stays in the field', async () => {
    const slip = await post('hepl')
    expect(slip.status).toBe(400)
    const html = await slip.text()
    expect(html).toContain('value="hepl"')
    expect(readable(html)).toContain('Did you mean "help"?')
    await post('ask one', '192.0.2.2')
    await post('ask two', '192.0.2.2')
    const over = await post('ask three', '192.0.2.2')
    expect(over.status).toBe(429)
    expect(readable(await over.text())).toContain('2026-06-16T00:00:00.000Z')
  })

  test('another origin cannot use up someone’s asks', async () => {
    const answer = await post('ask x', '192.0.2.3', { 'sec-fetch-site': 'cross-site' })
    expect(answer.status).toBe(403)
  })

  test('what is written and what is answered is text, no matter what it is', async () => {
    for (const [i, payload] of payloads.entries()) {
      const asked = `ask ${payload.replaceAll('\0', '')}`
      const html = await (await post(asked, `2001:db8:${i.toString(16)}::1`)).text()
      const bare = await (await post(payload.replaceAll('\0', ''), '192.0.2.4')).text()
      for (const one of [html, bare]) {
        if (payload.includes('<')) expect(one).not.toContain(payload)
        expect(one).not.toMatch(/<img|<script>|<svg on|<iframe|href="javascript/)
      }
    }
  }, 60_000)

  test('a form with a zero byte, a field twice or none: 400', async () => {
    expect((await post('he\0lp')).status).toBe(400)
    const twice = { method: 'POST', body: 'command=help&command=status' }
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    }
    expect((await fetch(`${w.origin}/terminal`, { ...twice, headers })).status).toBe(400)
    const none = { method: 'POST', body: 'x=1' }
    expect((await fetch(`${w.origin}/terminal`, { ...none, headers })).status).toBe(400)
  })
})
