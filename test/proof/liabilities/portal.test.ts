import { afterAll, beforeAll, expect, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { checkLiabilities } from '../../../src/verify/liabilities.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'
import { publish } from './publishing.ts'

let w: World
let own: Browser
const page = { accept: 'text/html' }
const html = async (who: Browser) =>
  await (await who.call('/dashboard/liabilities', { headers: page })).text()

beforeAll(async () => {
  w = await world({ now: Date.UTC(2026, 10, 20, 12) })
  own = browser(w)
  await signInWith(own)
  await w.key({ balance: 3n * usd })
})
afterAll(() => w.stop())

test('the page says that an account is not counted before the first statement', async () => {
  expect(await html(own)).toContain('Not counted yet')
  expect((await own.call('/api/portal/liabilities/proof')).status).toBe(404)
})

test('the page shows how the account was counted, and gives the file', async () => {
  await publish(w)
  const shown = await html(own)
  for (const words of ['Your balance is part of the total', 'In the public log', '$3.00']) {
    expect(shown).toContain(words)
  }
  const answer = await own.call('/api/portal/liabilities/proof')
  expect(answer.headers.get('content-disposition')).toBe(
    'attachment; filename="liabilities-1.json"',
  )
  const trust = { signers: [{ address: w.deps.signer.address }], account: testAccount }
  const checks = checkLiabilities(await answer.json(), trust)
  expect(checks.filter(({ status }) => status === 'fail')).toEqual([])
  w.advance(3 * 86_400_000)
  await signInWith(own)
  expect(await html(own)).toContain('It is too old')
})

test('the page of an account that came later has the statements alone', async () => {
  const stranger = browser(w)
  await signInWith(stranger, privateKeyToAccount(`0x${'7'.repeat(64)}`))
  const shown = await html(stranger)
  expect(shown).toContain('Not counted yet')
  expect(shown).toContain('/liabilities/1')
  expect(shown).not.toContain('balance_nusd')
})
