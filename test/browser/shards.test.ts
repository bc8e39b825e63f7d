import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { ofS4, type ShardWorld, shardWorld } from '../storage/slots/shards.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { usd } from '../support/world.ts'
import { injectWallet, signer } from './injected-wallet.ts'

/** A balancer that goes by the header of an answer 421 and by the session, else to s3. */
function startBalancer() {
  const seen: string[] = []
  const origins: Record<string, string> = {}
  const server = Bun.serve({
    hostname: 'localhost',
    port: 0,
    fetch: (request) => {
      const url = new URL(request.url)
      const session = /(?:^|; )sid=(.)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? ''
      const shard = request.headers.get('x-counterfoil-shard') ?? (session > 'f' ? 's4' : 's3')
      if (url.pathname.startsWith('/api/auth')) seen.push(`${shard} ${url.pathname}`)
      const { method, body, headers } = request
      return fetch(origins[shard] + url.pathname + url.search, {
        ...{ method, body, headers, redirect: 'manual', decompress: false },
      })
    },
  })
  return { origin: `http://localhost:${server.port}`, origins, seen, stop: () => server.stop(true) }
}

describe.skipIf(noChromium)('a wallet of another shard, in a real browser', () => {
  let s3: ShardWorld
  let s4: ShardWorld
  let browser: Browser
  let balancer: ReturnType<typeof startBalancer>
  beforeAll(async () => {
    balancer = startBalancer()
    const { origin: baseUrl, origins } = balancer
    s3 = await shardWorld('s3', { baseUrl })
    s4 = await shardWorld('s4', { baseUrl })
    Object.assign(origins, { s3: s3.origin, s4: s4.origin })
    for (const { deps } of [s3, s4]) deps.settings.baseUrl = baseUrl
    browser = await startChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await balancer?.stop()
    await s3?.stop()
    await s4?.stop()
  })

  promise`Q2`
  test('signs in where its account is: the page follows the answer of the wrong shard', async () => {
    const context = await browser.newContext({ reducedMotion: 'reduce' })
    await injectWallet(context, { accounts: [signer.address.toLowerCase()] })
    const page = await context.newPage()
    await page.goto(`${balancer.origin}/signin?next=${encodeURIComponent('/dashboard/sessions')}`)
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.waitForURL('**/dashboard/sessions')
    expect(await page.getByRole('row').filter({ hasText: 'This browser' }).count()).toBe(1)
    const [cookie] = await context.cookies()
    expect([cookie?.name, cookie?.value.slice(0, 2)]).toEqual(['sid', 'vz'])
    // Chromium sends a request that was answered 421 once more by itself.
    expect([...new Set(balancer.seen)]).toEqual([
      's3 /api/auth/nonce',
      's4 /api/auth/nonce',
      's4 /api/auth/verify',
    ])
    expect(await s3.deps.accounts.find(signer.address.toLowerCase())).toBeUndefined()
    await context.close()
  }, 60_000)

  test('checks a receipt of another shard by the signers that this one names', async () => {
    const { secret } = await s4.key({ account: ofS4, balance: usd })
    const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hi' }] }
    const ran = await (await s4.call('/v1/chat/completions', { key: secret, json })).json()
    const answer = await s4.call(`/v1/receipts/${ran.receipt.id}`, { key: secret })
    const context = await browser.newContext({ reducedMotion: 'reduce' })
    const page = await context.newPage()
    await page.goto(`${balancer.origin}/verify`)
    await page.getByLabel('Or paste it').fill(await answer.text())
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByRole('heading', { name: 'Signed and logged' }).waitFor()
    await page.getByText('Its signers are those that shard s4 names.').waitFor()
    await context.close()
  }, 60_000)
})
