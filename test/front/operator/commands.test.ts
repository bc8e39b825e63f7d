import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { redeemVoucher } from '../../../src/billing/vouchers/redeem-voucher.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { insert } from '../../../src/storage/db/sql/query-steps.ts'
import { commandHome } from '../../support/commands.ts'

setDefaultTimeout(60_000)

const dayMs = 86_400_000

describe('counterfoil vouchers', () => {
  const home = commandHome()
  afterAll(home.remove)
  const account = `0x${'ab'.repeat(20)}`
  const codes: string[] = []
  let batch = ''

  /** Returns what the code credited, or the type of the refusal. */
  async function redeem(code: string | undefined) {
    const office = await home.office()
    try {
      const guesses = { assertLeft() {}, count() {} }
      const wish = { account, code: code ?? '', actor: account, guesses }
      return (await redeemVoucher(office, wish)).amount
    } catch (error) {
      return error instanceof Refusal ? error.type : error
    } finally {
      await office.close()
    }
  }
  const listed = () => JSON.parse(home.run('vouchers', 'list', '--json').stdout).data

  test('create prints CSV with a heading, the code first, and tells the rest on stderr.', () => {
    const { stdout: none, stderr: hint } = home.run('vouchers', 'list')
    expect([none, hint.includes('counterfoil vouchers create')]).toEqual(['', true])
    const wish = ['--amount', '5.00', '--count', '3', '--expires', '30d', '--per-account', '2']
    const { code, stdout, stderr } = home.run('vouchers', 'create', ...wish)
    expect(code).toBe(0)
    const [heading, ...lines] = stdout.trimEnd().split('\n')
    expect(heading).toBe('code,amount_usd,expires_at,batch')
    expect(lines).toHaveLength(3)
    for (const line of lines) {
      const [voucher = '', amount, expires = '', of = ''] = line.split(',')
      expect(voucher).toMatch(/^([0-9A-Z]{5}-){5}[0-9A-Z]{5}$/)
      expect(amount).toBe('5.00')
      expect(Math.abs(Date.parse(expires) - Date.now() - 30 * dayMs)).toBeLessThan(60_000)
      expect(of).toMatch(/^vou_[0-9a-z]{26}$/)
      codes.push(voucher)
      batch = of
    }
    expect(new Set(codes).size).toBe(3)
    expect(stderr).toContain(batch)
    for (const voucher of codes) expect(stderr).not.toContain(voucher)
  })

  test('list counts what was redeemed, and shows no code.', async () => {
    expect(await redeem(codes[0])).toBe(5_000_000_000n)
    expect(await redeem(codes[0])).toBe('conflict')
    expect(listed()).toMatchObject([
      { id: batch, amount_nusd: 5e9, count: 3, redeemed: 1, per_account: 2, revoked_at: null },
    ])
    const { stdout } = home.run('vouchers', 'list')
    expect(stdout).toMatch(new RegExp(`^${batch}  5\\.00 USD  1 of 3 redeemed  until `))
    for (const voucher of codes) expect(stdout).not.toContain(voucher)
  })

  test('revoke withdraws the rest of a batch; what was redeemed stays.', async () => {
    const { code, stderr } = home.run('vouchers', 'revoke', batch)
    expect([code, stderr.includes('1 of 3')]).toEqual([0, true])
    expect(await redeem(codes[1])).toBe('gone')
    const [{ revoked_at }] = listed()
    expect(Math.abs(Date.parse(revoked_at) - Date.now())).toBeLessThan(60_000)
    expect(JSON.parse(home.run('vouchers', 'revoke', batch, '--json').stdout)).toMatchObject({
      id: batch,
      revoked_at,
      redeemed: 1,
    })
    const unknown = home.run('vouchers', 'revoke', 'vou_00000000000000000000000000')
    expect([unknown.code, unknown.stderr.includes('no such batch')]).toEqual([1, true])
    const office = await home.office()
    try {
      expect((await office.accounts.find(account))?.balance).toBe(5_000_000_000n)
    } finally {
      await office.close()
    }
  })

  const fine = { amount: '5', count: '1', expires: '30d' }
  test.each([
    ['an amount of 0', { ...fine, amount: '0' }, 1],
    ['a negative amount', { ...fine, amount: '-5' }, 2],
    ['an amount above the largest balance', { ...fine, amount: '9000001' }, 2],
    ['ten decimals', { ...fine, amount: '0.0000000001' }, 2],
    ['a count of 0', { ...fine, count: '0' }, 2],
    ['a count above 10,000', { ...fine, count: '10001' }, 1],
    ['an end without a unit', { ...fine, expires: '30' }, 2],
    ['an end in more than ten years', { ...fine, expires: '3661d' }, 1],
    ['no amount', { count: '1', expires: '30d' }, 2],
  ])('create with %s is refused with a message.', (_, wish, expected) => {
    const args = Object.entries(wish).map(([name, value]) => `--${name}=${value}`)
    const { code, stdout, stderr } = home.run('vouchers', 'create', ...args)
    expect([code, stdout]).toEqual([expected, ''])
    expect(stderr).toMatch(/^(error: )?\S.+\n/)
    expect(stderr).not.toContain('    at ')
  })

  test('A refused create makes nothing.', () => expect(listed()).toHaveLength(1))
})

describe('counterfoil margins', () => {
  const home = commandHome()
  afterAll(home.remove)

  test('Without runs it prints a table of zeros, and a heading as CSV.', () => {
    expect(home.run('margins').stdout).toMatch(/^model +runs .*\ntotal +0 /)
    expect(home.run('margins', '--csv').stdout).toBe(
      'model,runs,revenue_usd,cost_usd,margin_usd,margin_percent\r\n',
    )
  })

  test('It sums days by model, account and day, the lowest margin first.', async () => {
    const office = await home.office()
    const day = Math.floor(Date.now() / dayMs) * dayMs
    const accountId = `0x${'cd'.repeat(20)}`
    const row = { day, accountId, runs: 2 }
    try {
      await office.db.write(() =>
        insert(office.db.tables.marginDays, [
          { ...row, model: 'acme/good', revenue: 3_000_000_000n, cost: 1_000_000_000n },
          { ...row, model: 'acme/bad', revenue: 1_000_000_000n, cost: 1_500_000_000n },
        ]),
      )
    } finally {
      await office.close()
    }
    const byModel = JSON.parse(home.run('margins', '--json').stdout)
    expect(byModel.totals).toMatchObject({ runs: 4, revenue_nusd: 4e9, margin_nusd: 1.5e9 })
    expect(byModel.data.map(({ model }: { model: string }) => model)).toEqual([
      'acme/bad',
      'acme/good',
    ])
    const [, line = ''] = home.run('margins', '--by', 'account', '--csv').stdout.split('\r\n')
    expect(line.toLowerCase()).toBe(`${accountId},4,4.00,2.50,1.50,37.5`)
    expect(home.run('margins', '--by', 'day').stdout).toContain(
      new Date(day).toISOString().slice(0, 10),
    )
    expect(home.run('margins').stdout).toContain('-50.0 % loss')
  })

  test.each([
    ['an unknown group', ['--by', 'moon']],
    ['two formats', ['--csv', '--json']],
  ])('It refuses %s as a usage error.', (_, args) => {
    const { code, stdout, stderr } = home.run('margins', ...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).not.toContain('    at ')
  })
})
