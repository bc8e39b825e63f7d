import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { world } from '../../support/world.ts'
import { alice, bob, type Depositing, depositingWorld, units } from './depositing.ts'
import { type StubChain, stubChain, transferLog } from './stub-chain.ts'

setDefaultTimeout(60_000)

const json = { accept: 'application/json' }
const html = { accept: 'text/html' }
const htmx = { 'hx-request': 'true' }
const treasury = '0x00000000000000000000000000000000007eA5e2'
const token = '0x5fc5360D0400a0Fd4f2af552ADD042D716F1d168'

describe('the deposits of an account in the dashboard', () => {
  let chain: StubChain
  let w: Depositing
  let own: Browser
  beforeAll(async () => {
    chain = stubChain()
    w = await depositingWorld({ url: chain.url })
    await w.look()
    own = browser(w)
    await signInWith(own)
    chain.add([transferLog(alice, units(5)), transferLog(bob, units(70))])
    chain.mine(20)
    await w.look()
  })
  afterAll(async () => {
    await w.stop()
    await chain.stop()
  })
  const post = (path: string, body: string, headers: Record<string, string>) =>
    own.call(path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })

  test.each([
    ['GET', '/api/portal/deposits'],
    ['POST', '/api/portal/deposits'],
    ['POST', '/api/portal/deposits/claim'],
  ])('%s %s without a cookie is 401 session_required', async (method, path) => {
    const answer = await w.call(path, { method, headers: json })
    expect([answer.status, (await answer.json()).error.type]).toEqual([401, 'session_required'])
  })

  test('the page warns before it shows the address, and lists only what is its own', async () => {
    const answer = await own.call('/dashboard/deposits', { headers: html })
    const page = await answer.text()
    expect(answer.status).toBe(200)
    const order = [
      'US dollars as a stablecoin',
      'Amount in USD',
      'not from an exchange',
      'cannot be withdrawn',
      'lose the account',
      treasury,
      'From another device',
      'Your newest deposit',
    ]
    const places = order.map((words) => page.indexOf(words))
    expect(places.every((place, i) => place > (places[i - 1] ?? 0))).toBe(true)
    expect(page).toContain('$5.00')
    expect(page).not.toContain('$70.00')
    expect(page).toContain('href="/dashboard/deposits"')
  })

  test('an amount goes into the link and the code: JSON, fragment, or a page by 303', async () => {
    const link = `ethereum:${token}@4663/transfer?address=${treasury}&uint256=25500001`
    const body = 'amount=25.5000005'
    const answer = await (await post('/api/portal/deposits', body, json)).json()
    expect(answer).toMatchObject({
      object: 'deposit_address',
      chain_id: 4663,
      treasury,
      token,
      amount_nusd: 25_500_000_500,
      token_amount: '25500001',
      link,
    })
    const part = await (await post('/api/portal/deposits', body, htmx)).text()
    expect(part).toContain(link.replace('&', '&amp;'))
    expect(part).not.toContain('<html')
    const plain = await post('/api/portal/deposits', body, html)
    expect(plain.status).toBe(303)
    const page = await own.call(plain.headers.get('location') ?? '', { headers: html })
    expect(await page.text()).toContain(link.replace('&', '&amp;'))
  })

  test.each(['-1', '0', '1e3', '0.000001', '<script>', '9'.repeat(39)])(
    'the amount %p is said to be wrong, in place',
    async (amount) => {
      const body = `amount=${encodeURIComponent(amount)}`
      const answer = await post('/api/portal/deposits', body, json)
      expect([answer.status, (await answer.json()).error.param]).toEqual([400, 'amount'])
      const part = await (await post('/api/portal/deposits', body, htmx)).text()
      expect(part).toContain('Enter an amount in USD')
      expect(part).not.toContain('<script>')
    },
  )

  test('a claim that fails is told in place, with what was typed', async () => {
    const body = `tx_hash=0x${'1'.repeat(64)}&signature=0x${'2'.repeat(130)}`
    const part = await post('/api/portal/deposits/claim', body, htmx)
    expect(part.status).toBe(404)
    const text = await part.text()
    expect(text).toContain('No transfer of this transaction has arrived yet')
    expect(text).toContain(`0x${'1'.repeat(64)}`)
    const wrong = await post('/api/portal/deposits/claim', 'tx_hash=%3Cb%3E&signature=0x', html)
    expect(wrong.status).toBe(400)
    expect(await wrong.text()).not.toContain('<b>')
  })

  test('the list is JSON to a script and a panel to htmx', async () => {
    const list = await (await own.call('/api/portal/deposits', { headers: json })).json()
    expect([list.object, list.data.length, list.data[0].status]).toEqual(['list', 1, 'credited'])
    const part = await (await own.call('/api/portal/deposits', { headers: htmx })).text()
    expect(part).toStartWith('<div id="deposits"')
    const [foreign] = (await w.all()).filter(({ account }) => account === bob)
    const after = await own.call(`/api/portal/deposits?after=${foreign?.id}`, { headers: json })
    expect(after.status).toBe(400)
  })

  promise`F10`
  test('while the chain cannot be read the page says that deposits are delayed', async () => {
    w.deps.health.deposits.trouble = 'unreachable'
    const page = await (await own.call('/dashboard/deposits', { headers: html })).text()
    w.deps.health.deposits.trouble = null
    expect(page).toContain('Deposits are delayed.')
  })
})

test('where no deposits are taken the page says so, and no page leads there', async () => {
  const w = await world()
  const own = browser(w)
  await signInWith(own)
  const page = await (await own.call('/dashboard/deposits', { headers: html })).text()
  expect(page).toContain('This server takes no deposits')
  expect(page).not.toContain('ethereum:')
  const overview = await (await own.call('/dashboard/sessions', { headers: html })).text()
  expect(overview).not.toContain('href="/dashboard/deposits"')
  const answer = await own.call('/api/portal/deposits', { method: 'POST', json: {}, headers: json })
  expect(answer.status).toBe(409)
  await w.stop()
})
