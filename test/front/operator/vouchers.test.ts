import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { codeHash, makeCode } from '../../../src/billing/vouchers/code.ts'
import { issueVouchers, revokeVouchers } from '../../../src/billing/vouchers/issue-vouchers.ts'
import { redeem } from '../../../src/billing/vouchers/redeem-voucher.ts'
import { voucherRows } from '../../../src/billing/vouchers/voucher-rows.ts'
import { maxNusd } from '../../../src/kernel/money.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { browser, signInWith } from '../../access/accounts/wallet.ts'
import { errorType } from '../../docs/answers.ts'
import { account as accountRow, now, paperUnit } from '../../ledger/paper-unit.ts'
import { promise } from '../../support/promise.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { html, htmx, json, noted, post } from '../admin/admin.ts'

const dayMs = 86_400_000
const some = { amount: 5n * usd, count: 1, lifeMs: dayMs, perAccount: null, actor: 'test' }

describe('the code of a voucher', () => {
  test('is read in any case, with any spacing, and with letters that look like digits.', () => {
    for (let i = 0; i < 200; i++) {
      const code = makeCode(systemRandom())
      expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){5}[0-9A-HJKMNP-TV-Z]{5}$/)
      const hash = codeHash(code)
      expect(hash).toHaveLength(64)
      const typed = ` ${code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o')} `
      expect(codeHash(typed.replaceAll('1', 'l'))).toBe(hash ?? '')
    }
  })

  test('is refused with any one character changed, without a look-up.', () => {
    const code = makeCode(systemRandom())
    for (const [i, was] of [...code].entries()) {
      const other = was === '7' ? '8' : '7'
      if (was === '-') continue
      expect(codeHash(code.slice(0, i) + other + code.slice(i + 1))).toBeUndefined()
    }
    expect([codeHash(''), codeHash('x'.repeat(1000))]).toEqual([undefined, undefined])
  })
})

test('A voucher works up to the millisecond before its end, not at it.', () => {
  const atPaper = (expiresAt: number) => {
    const { unit } = paperUnit({ accounts: [accountRow()], parts: [voucherRows] })
    const batch = { id: 'vou_1', amount: 5n, count: 1, perAccount: null, createdAt: 0 }
    const { codes, batches } = unit.part(voucherRows)
    codes.set('hash', { hash: 'hash', batchId: 'vou_1', serial: 1 })
    batches.set('vou_1', { ...batch, expiresAt, revokedAt: null, redeemed: 0 })
    return () => redeem(unit, 'alice', 'hash')
  }
  expect(atPaper(now + 1)()).toMatchObject({ amount: 5n, balance: 105n, ref: 'vou_1/1' })
  expect(atPaper(now)).toThrow('expired')
})

describe.each(engines)('vouchers on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, toml: '[limits]\nfailed_auth_per_minute = 10\nrpm = 100_000' })
  }, 60_000)
  afterAll(async () => {
    expect(await auditStore(w.db).faults(w.deps.clock.now())).toEqual([])
    await w.stop()
  })

  const balance = async (account: string) => (await w.deps.accounts.find(account))?.balance ?? 0n
  const send = (key: string, code: string, headers: Record<string, string> = {}) =>
    w.call('/v1/vouchers/redeem', { key, headers, json: { code } })
  let made = 0
  const fresh = () => `0x${String(++made).padStart(40, 'a')}`

  promise`D43 C: A voucher credits once, however many redeem it at once; guesses are limited.`
  test('A hundred redemptions of one code at once, of two accounts, credit it once.', async () => {
    const accounts = [fresh(), fresh()] as const
    const keys = await Promise.all(accounts.map((account) => w.key({ account })))
    const { codes } = await issueVouchers(w.deps, some)
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, i) => send(keys[i % 2]?.secret ?? '', codes[0] ?? '')),
    )
    const statuses = all.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 99 }, () => 409)])
    const sums = await Promise.all(accounts.map(balance))
    expect(sums.toSorted()).toEqual([0n, 5n * usd])
  })

  promise`D43`
  test('An account redeems no more of a batch than it may, however many at once.', async () => {
    const account = fresh()
    const { secret } = await w.key({ account })
    const wish = { ...some, count: 20, perAccount: 2 }
    const { batch, codes } = await issueVouchers(w.deps, wish)
    const all = await Promise.all(codes.map((code) => send(secret, code)))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(all.filter(({ status }) => status === 409)).toHaveLength(18)
    expect(await balance(account)).toBe(10n * usd)
    expect((await w.deps.vouchers.find(batch.id))?.redeemed).toBe(2)
  })

  test('The statement and the audit name the batch and the number, not the code.', async () => {
    const account = fresh()
    const { secret, key } = await w.key({ account })
    const { batch, codes } = await issueVouchers(w.deps, some)
    const [code = ''] = codes
    const told = await (await send(secret, code)).json()
    expect(told).toMatchObject({ id: `${batch.id}/1`, amount_nusd: 5e9, balance_nusd: 5e9 })
    const page = await w.deps.statements.list(account, { limit: 5, after: undefined })
    expect(page.items).toMatchObject([{ kind: 'voucher', ref: `${batch.id}/1`, amount: 5n * usd }])
    const entry = (await noted(w)).find(({ action }) => action === 'voucher.redeem')
    expect(entry).toMatchObject({ actor: key.id, accountId: account, subject: batch.id })
    const { voucherCodes } = w.db.tables
    const stored = await w.db.read((q) => rows(q.select().from(voucherCodes)))
    const text = JSON.stringify([stored, await noted(w)]).replaceAll('-', '')
    expect(text).not.toContain(code.replaceAll('-', ''))
    expect(stored.map(({ hash }) => hash)).toContain(codeHash(code) ?? '')
  })

  test('The same call under an Idempotency-Key is answered again, and credits once.', async () => {
    const account = fresh()
    const { secret } = await w.key({ account })
    const { codes } = await issueVouchers(w.deps, some)
    const headers = { 'idempotency-key': 'voucher' }
    const once = await send(secret, codes[0] ?? '', headers)
    const again = await send(secret, codes[0] ?? '', headers)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.json()).toEqual(await once.json())
    expect(await balance(account)).toBe(5n * usd)
  })

  test('A code that expired or was withdrawn is gone.', async () => {
    const { secret } = await w.key({ account: fresh() })
    const late = await issueVouchers(w.deps, { ...some, lifeMs: 0 })
    const off = await issueVouchers(w.deps, some)
    await revokeVouchers(w.deps, off.batch.id, 'test')
    for (const [code = ''] of [late.codes, off.codes]) {
      const answer = await send(secret, code)
      expect([answer.status, await errorType(answer)]).toEqual([410, 'gone'])
    }
  })

  test('Each code of a batch that is revoked meanwhile credits or is gone; the audit counts both.', async () => {
    const account = fresh()
    const { secret } = await w.key({ account })
    const { batch, codes } = await issueVouchers(w.deps, { ...some, count: 20 })
    const [revoked, ...answers] = await Promise.all([
      Bun.sleep(1).then(() => revokeVouchers(w.deps, batch.id, 'test')),
      ...codes.map((code) => send(secret, code)),
    ])
    const taken = answers.filter(({ status }) => status === 200).length
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(20 - taken)
    expect(revoked.redeemed).toBe(taken)
    expect(await balance(account)).toBe(BigInt(taken) * 5n * usd)
    const entry = (await noted(w)).find(
      ({ action, subject }) => action === 'voucher.revoke' && subject === batch.id,
    )
    expect(entry?.detail).toEqual({ left: 20 - taken })
  })

  test('A voucher beyond the largest balance is refused, and can be redeemed later.', async () => {
    const account = fresh()
    const { secret } = await w.key({ account, balance: maxNusd - 5n * usd + 1n })
    const { codes } = await issueVouchers(w.deps, some)
    const full = await send(secret, codes[0] ?? '')
    expect([full.status, await errorType(full)]).toEqual([409, 'conflict'])
    const { secret: other } = await w.key({ account: fresh() })
    expect((await send(other, codes[0] ?? '')).status).toBe(200)
  })

  test('Where no proxy is trusted, guesses are limited for the account alone; others go on redeeming.', async () => {
    w.advance(120_000)
    const first = await w.key({ account: fresh() })
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) {
      const code = i % 2 === 0 ? makeCode(systemRandom()) : 'AAAAA'
      statuses.push((await send(first.secret, code)).status)
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 404), 429, 429])
    const { codes } = await issueVouchers(w.deps, { ...some, count: 2 })
    expect((await send(first.secret, codes[0] ?? '')).status).toBe(429)
    const other = await w.key({ account: fresh() })
    expect((await send(other.secret, codes[1] ?? '')).status).toBe(200)
    w.advance(61_000)
    expect((await send(first.secret, codes[0] ?? '')).status).toBe(200)
  })

  test('The dashboard redeems one: by a form without scripts, by htmx, as JSON.', async () => {
    const own = browser(w)
    await signInWith(own)
    const before = await balance(testAccount)
    const { codes } = await issueVouchers(w.deps, { ...some, count: 3 })
    const path = '/api/portal/vouchers/redeem'
    const plain = await post(own, path, { code: codes[0] ?? '' }, html)
    expect([plain.status, plain.headers.get('location')]).toEqual([303, '/dashboard/statement'])
    const part = await post(own, path, { code: codes[1] ?? '' }, htmx)
    expect(await part.text()).toContain('Redeemed.')
    const told = await post(own, path, { code: codes[2] ?? '' }, json)
    expect(await told.json()).toMatchObject({ object: 'voucher.redemption', amount_nusd: 5e9 })
    expect((await balance(testAccount)) - before).toBe(15n * usd)
    const wrong = await post(own, path, { code: codes[0] ?? '' }, html)
    const text = await wrong.text()
    expect([wrong.status, text.includes('was redeemed already')]).toEqual([409, true])
    const statement = await own.call('/dashboard/statement?by=movement', { headers: html })
    expect(await statement.text()).toContain('Voucher')
    const page = await own.call('/dashboard/vouchers', { headers: html })
    expect(await page.text()).toContain('Redeem a voucher')
  })
})

promise`D43`
// The network is told by the proxy, so it is counted only where one is trusted.
test('Guesses are limited for the account and for the network, typing errors too.', async () => {
  const toml = 'trusted_proxies = ["127.0.0.0/8", "::1"]\n[limits]\nfailed_auth_per_minute = 10'
  const w = await world({ toml })
  try {
    const redeem = async (key: string, code: string, from: string) => {
      const headers = { 'x-forwarded-for': from }
      return (await w.call('/v1/vouchers/redeem', { key, headers, json: { code } })).status
    }
    const owner = (n: number) => w.key({ account: `0x${String(n).padStart(40, 'b')}` })
    for (let i = 0; i < 10; i++) {
      const { secret } = await owner(i)
      const code = i % 2 === 0 ? makeCode(systemRandom()) : 'AAAAA'
      expect(await redeem(secret, code, '203.0.113.7')).toBe(404)
    }
    const { codes } = await issueVouchers(w.deps, some)
    const { secret } = await owner(10)
    expect(await redeem(secret, codes[0] ?? '', '203.0.113.7')).toBe(429)
    expect(await redeem(secret, codes[0] ?? '', '203.0.113.8')).toBe(200)
  } finally {
    await w.stop()
  }
})
