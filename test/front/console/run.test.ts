import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { type Browser, browser } from '../../access/accounts/wallet.ts'
import { expectSettled, lastRun, modelsToml, pricedBuiltins } from '../../support/runs.ts'
import { startStubUpstream, stubWords } from '../../support/stub-upstream.ts'
import { type World, world } from '../../support/world.ts'
import { payloads } from '../../web/ui/payloads.ts'
import { account, askByStream, postForm, readable, runPath, saidIn, signedIn } from './support.ts'

/** The second of the well-known test accounts: it has nothing. */
const poor = privateKeyToAccount(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
)
const echo = 'counterfoil/echo-1'

describe('POST /api/portal/console/run', () => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let own: Browser

  beforeAll(async () => {
    stub = await startStubUpstream()
    const names = ['normal', 'cut-2', 'stall-1', 'status-500', 'slow']
    w = await world({ toml: pricedBuiltins + modelsToml(stub.url, names) })
    own = await signedIn(w)
  })
  afterAll(async () => {
    await w?.stop()
    await stub?.stop()
  })

  describe('as a stream', () => {
    test('says the hold, then the text as it comes, then what it cost and its receipt', async () => {
      const events = await askByStream(own, { model: echo, input: 'one two three' })
      expect(events[0]?.type).toBe('run.started')
      expect(saidIn(events)).toBe('one two three')
      const { run, receipt } = events.at(-1) ?? {}
      const row = await lastRun(w)
      expect(row).toMatchObject({ accountId: account, kind: 'chat', outcome: 'complete' })
      expect(row.hold).toBe(BigInt(events[0]?.hold_nusd ?? 0))
      expect(run?.cost_nusd).toBe(Number(row.cost))
      expect(receipt?.id).toBe(`rcpt_${row.id.slice(4)}`)
      expect(row.cost).toBeGreaterThan(0n)
      await expectSettled(w)
    })

    test('is an event stream that names its receipt', async () => {
      const answer = await own.call(runPath, { json: { model: echo, input: 'hi' } })
      expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
      expect(answer.headers.get('x-receipt-id')).toStartWith('rcpt_')
      await answer.text()
    })

    test('the turns before it and the system text go to the model, with the parameters', async () => {
      const turns = [{ input: 'a', output: 'b', receipt_id: 'rcpt_1' }]
      const params = { temperature: 0.25 }
      const asked = { model: 'stub/normal', input: 'c', system: 's', turns, params }
      const events = await askByStream(own, { ...asked, max_output_tokens: 7 })
      expect(saidIn(events)).toBe(stubWords.join(''))
      expect(stub.calls.at(-1)?.body).toMatchObject({
        messages: [
          { role: 'system', content: 's' },
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
          { role: 'user', content: 'c' },
        ],
        max_tokens: 7,
        temperature: 0.25,
      })
    })

    test('an upstream that breaks off: in band, with what was charged', async () => {
      const events = await askByStream(own, { model: 'stub/cut-2', input: 'hi' })
      const { error } = events.at(-1) ?? {}
      const row = await lastRun(w)
      expect(error).toMatchObject({ type: 'upstream_error', metadata: { outcome: 'partial' } })
      expect(error?.metadata).toMatchObject({
        cost_nusd: Number(row.cost),
        output_tokens: 3,
        receipt_id: `rcpt_${row.id.slice(4)}`,
      })
      await expectSettled(w)
    })

    test('an upstream that says nothing at all: nothing is charged, and it says so', async () => {
      const events = await askByStream(own, { model: 'stub/status-500', input: 'hi' })
      expect(events.at(-1)?.error?.metadata).toMatchObject({ cost_nusd: 0, outcome: 'failed' })
    })

    test('a run that is cancelled ends its stream with what was charged', async () => {
      const json = { model: 'stub/slow', input: 'hi' }
      const answer = await own.call(runPath, { json })
      const reader = answer.body?.getReader()
      const first = new TextDecoder().decode((await reader?.read())?.value)
      const { run_id } = JSON.parse(first.split('\n\n')[0]?.slice(6) ?? '{}')
      const headers = { accept: 'application/json' }
      const path = `/api/portal/runs/${run_id}/cancel`
      expect((await own.call(path, { method: 'POST', headers })).status).toBe(200)
      let rest = ''
      for (;;) {
        const next = await reader?.read()
        if (!next?.value) break
        rest += new TextDecoder().decode(next.value)
      }
      expect(rest).toContain('"type":"conflict"')
      expect(rest).toContain('"outcome":"cancelled"')
      await expectSettled(w)
    })

    test('a page that goes away stops the run', async () => {
      const abort = new AbortController()
      const cookie = [...own.jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const json = { model: 'stub/slow', input: 'hi' }
      const answer = await w.call(runPath, { json, headers: { cookie }, signal: abort.signal })
      await answer.body?.getReader().read()
      abort.abort()
      await expectSettled(w)
      expect((await lastRun(w)).outcome).toBe('cancelled')
    })

    test('with Accept: application/json the run comes whole, when it has ended', async () => {
      const headers = { accept: 'application/json' }
      const answer = await own.call(runPath, { json: { model: echo, input: 'one two' }, headers })
      const run = await answer.json()
      expect(run.output[0].message.content).toBe('one two')
      expect(run.receipt.cost_nusd).toBe(run.cost_nusd)
    })
  })

  describe('refuses, and holds nothing', () => {
    const bodies: [what: string, body: object, status: number, type: string, param?: string][] = [
      [
        'an embedding model',
        { model: 'counterfoil/embed-1', input: 'a' },
        400,
        'invalid_request',
        'model',
      ],
      ['an unknown model', { model: 'no/such', input: 'a' }, 404, 'model_not_found', 'model'],
      ['no message', { model: echo, input: ' ' }, 400, 'invalid_request', 'input'],
      [
        'unknown fields',
        { model: echo, input: 'a', stream: true },
        400,
        'invalid_request',
        'stream',
      ],
      [
        'messages among the params',
        { model: echo, input: 'a', params: { messages: [] } },
        400,
        'invalid_request',
        'params.messages',
      ],
      [
        'more turns than go along',
        { model: echo, input: 'a', turns: Array(9).fill({ input: 'a', output: 'b' }) },
        400,
        'invalid_request',
        'turns',
      ],
      [
        'too long an answer',
        { model: echo, input: 'a', max_output_tokens: 1e6 },
        400,
        'invalid_request',
        'max_output_tokens',
      ],
    ]
    test.each(bodies)('%s', async (_, json, status, type, param) => {
      const before = (await lastRun(w)).id
      const answer = await own.call(runPath, { json })
      expect(answer.status).toBe(status)
      expect((await answer.json()).error).toMatchObject({ type, param })
      expect((await lastRun(w)).id).toBe(before)
    })

    test('without a cookie 401 session_required, from another origin 403 csrf_failed', async () => {
      const json = { model: echo, input: 'a' }
      const stranger = await browser(w).call(runPath, { json })
      expect(stranger.status).toBe(401)
      expect((await stranger.json()).error.type).toBe('session_required')
      const headers = { 'sec-fetch-site': 'cross-site' }
      const forged = await own.call(runPath, { json, headers })
      expect(forged.status).toBe(403)
      expect((await forged.json()).error.type).toBe('csrf_failed')
    })

    test('without money: 402 that says what is missing', async () => {
      const none = await signedIn(w, 0n, poor)
      const answer = await none.call(runPath, { json: { model: 'stub/normal', input: 'a' } })
      expect(answer.status).toBe(402)
      const { error } = await answer.json()
      expect(error.type).toBe('insufficient_balance')
      const page = await postForm(none, w, runPath, { model: 'stub/normal', input: 'a' })
      expect(page.status).toBe(402)
      expect(readable(await page.text())).toContain(', but only $0.00 of the balance is available.')
    })
  })

  describe('as a form, without script', () => {
    const fields = { model: echo, input: 'one two', max_output_tokens: '', temperature: '' }

    test('the page holds the question, the whole answer, its cost and its receipt', async () => {
      const answer = await postForm(own, w, runPath, { ...fields, system: '', turns: '[]' })
      expect(answer.status).toBe(200)
      const html = await answer.text()
      const row = await lastRun(w)
      expect(html).toContain('<p class="you">one two</p><div class="it done"><p>one two</p></div>')
      expect(html).toContain(`href="/receipts/rcpt_${row.id.slice(4)}"`)
      const turns = /name="turns" value="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"')
      expect(JSON.parse(turns ?? '')).toMatchObject([{ input: 'one two', output: 'one two' }])

      const next = await postForm(own, w, runPath, {
        ...fields,
        input: 'three',
        turns: turns ?? '',
      })
      expect(await next.text()).toContain('<p class="you">one two</p>')
    })

    test.each([
      ['half of a surrogate pair', '[{"input":"\\ud800","output":"b"}]'],
      ['no JSON', '[{"input":'],
    ])('a talk with %s in it is refused before anything is held', async (_, turns) => {
      const before = (await lastRun(w)).id
      const answer = await postForm(own, w, runPath, { ...fields, system: '', turns })
      expect(answer.status).toBe(400)
      expect(readable(await answer.text())).toContain('The conversation cannot be read.')
      expect((await lastRun(w)).id).toBe(before)
    })

    test('an upstream that breaks off: the part that came, what it cost, and the question again', async () => {
      const answer = await postForm(own, w, runPath, { ...fields, model: 'stub/cut-2' })
      expect(answer.status).toBe(502)
      const html = await answer.text()
      expect(html).toContain(`<div class="it done"><p>${stubWords.slice(0, 2).join('')}</p>`)
      expect(readable(html)).toContain(
        'The model server stopped after 3 tokens. You were charged $',
      )
      expect(html).toMatch(/<textarea[^>]*name="input"[^>]*>one two<\/textarea>/)
    })

    test('a link can bring a message and a model; both are only text', async () => {
      const [message, model] = payloads.map(encodeURIComponent)
      const query = `?input=${message}&model=${model}`
      const html = await (await own.call(`/dashboard/console${query}`)).text()
      expect(html).not.toContain('<script>alert')
      expect(readable(html)).toContain(payloads[0] ?? '')
    })

    test('a number that is none: 400 on the page, with all that was written', async () => {
      const answer = await postForm(own, w, runPath, { ...fields, temperature: 'warm' })
      expect(answer.status).toBe(400)
      expect(await answer.text()).toContain('value="warm"')
    })

    test('a cap that is too small: 402 with what to do', async () => {
      const small = await own.call('/api/portal/console/cap', { json: { cap: '0.001' } })
      expect(small.status).toBe(200)
      const answer = await postForm(own, w, runPath, { ...fields, model: 'stub/normal' })
      expect(answer.status).toBe(402)
      const text = readable(await answer.text())
      expect(text).toContain('but the console may only spend $')
      expect(text).toMatch(/Ask for at most \d+ tokens, or raise the cap\./)
      await own.call('/api/portal/console/cap', { json: { cap: '1' } })
    })
  })
})
