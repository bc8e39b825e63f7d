import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { issueVouchers } from '../../../src/billing/vouchers/issue-vouchers.ts'
import { redeemVoucher } from '../../../src/billing/vouchers/redeem-voucher.ts'
import { voucherStore } from '../../../src/billing/vouchers/store.ts'
import { takenTogether } from '../../ledger/answers.ts'
import {
  faultsOf,
  newAccount,
  type Office,
  officeOn,
  openOffice,
  pictureOf,
} from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { engines } from '../../support/world.ts'

// SQLite has one server a file.
const shared = engines.filter((engine) => engine !== 'sqlite')

describe.each(shared)('vouchers on two nodes with one database, %s', (engine) => {
  let one: Awaited<ReturnType<typeof openOffice>>
  let two: Office
  beforeAll(async () => {
    one = await openOffice(engine)
    two = officeOn(one.db, one.clock)
  }, 30_000)
  afterAll(() => one.close())

  promise`D43`
  test('Accounts that redeem the same codes in opposite orders never wait in a circle; each code credits once.', async () => {
    const vouchers = voucherStore(one.db)
    const wish = { amount: 7n, count: 15, lifeMs: 60_000, perAccount: 15, actor: 'test' }
    const batches = await Promise.all(
      [1, 2, 3].map(() => issueVouchers({ ...one, vouchers }, wish)),
    )
    const codes = batches.flatMap((made) => made.codes)
    const accounts = Array.from({ length: 6 }, newAccount)
    const guesses = { assertLeft: () => undefined, count: () => undefined }
    const asked = accounts.flatMap((account, i) => {
      const node = i % 2 === 0 ? one : two
      const order = i % 3 === 0 ? codes : codes.toReversed()
      return order.map((code) => redeemVoucher(node, { account, code, actor: account, guesses }))
    })
    const { done, refused } = await takenTogether(asked)
    expect(done).toHaveLength(codes.length)
    expect(refused).toEqual({ conflict: (accounts.length - 1) * codes.length })
    const picture = await pictureOf(one.db)
    expect(faultsOf(picture)).toEqual([])
    const balances = picture.accounts.map(({ balance }) => balance)
    expect(balances.reduce((sum, each) => sum + each, 0n)).toBe(7n * BigInt(codes.length))
    for (const { id, redeemed } of await vouchers.list()) {
      expect([id, redeemed]).toEqual([id, wish.count])
    }
  }, 60_000)
})
