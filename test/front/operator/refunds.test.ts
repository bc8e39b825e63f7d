import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { issueToken } from '../../../src/access/operators/issue-token.ts'
import { operatorScopes } from '../../../src/access/operators/token.ts'
import { refundDeposit } from '../../../src/billing/refunds/refund.ts'
import { noteRefunded, refundRows } from '../../../src/ledger/refund-rows.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { errorType } from '../../docs/answers.ts'
import { account as accountRow, deposit, paperUnit } from '../../ledger/paper-unit.ts'
import { promise } from '../../support/promise.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

const account = `0x${'cd'.repeat(20)}`

describe.each(engines)('refunds on %s', (engine) => {
  let w: World
  let token: string
  let run: { id: string; cost: number }
  beforeAll(async () => {
    w = await world({ engine, toml: pricedBuiltins })
    const wish = { name: 'test', scopes: operatorScopes, lifeMs: 86_400_000 }
    token = (await issueToken(w.deps, wish)).secret
    const { secret } = await w.key({ account, balance: usd })
    const json = { model: 'counterfoil/echo-1', input: 'refund me', max_output_tokens: 50 }
    const { id } = await (await w.call('/v1/runs', { key: secret, json })).json()
    run = { id, cost: Number((await w.deps.runs.find(id))?.cost) }
    expect(run.cost).toBeGreaterThan(100)
  }, 60_000)
  afterAll(async () => {
    const { faults, sides } = await auditStore(w.db).report(w.deps.clock.now())
    expect([faults, sides.refunds]).toEqual([[], -BigInt(run.cost)])
    await w.stop()
  })

  const refund = (amount_nusd: number, more: object = {}, headers: Record<string, string> = {}) =>
    w.call('/operator/v1/refunds', {
      key: token,
      headers,
      json: { account, ref: run.id, amount_nusd, reason: 'outage', ...more },
    })
  const balance = async () => (await w.deps.accounts.find(account))?.balance ?? 0n

  promise`D44 C: All refunds of a run together give back at most what it cost.`
  test('All refunds of a run together give back at most what it cost, at once too.', async () => {
    const before = await balance()
    const beyond = await refund(run.cost + 1)
    expect([beyond.status, await errorType(beyond)]).toEqual([409, 'conflict'])
    const half = Math.ceil(run.cost / 2)
    const all = await Promise.all(Array.from({ length: 10 }, () => refund(half)))
    expect(all.filter(({ ok }) => ok)).toHaveLength(half * 2 === run.cost ? 2 : 1)
    const left = run.cost - Number((await balance()) - before)
    const headers = { 'idempotency-key': 'rest' }
    if (left > 0) {
      const rest = await (await refund(left, {}, headers)).json()
      const again = await (await refund(left, {}, headers)).json()
      expect(rest).toMatchObject({ refunded_nusd: run.cost, object: 'refund', ref: run.id })
      expect(again).toEqual(rest)
    }
    expect((await balance()) - before).toBe(BigInt(run.cost))
    expect((await refund(1)).status).toBe(409)
    const { items } = await w.deps.statements.list(account, { limit: 9, after: undefined })
    expect(items[0]).toMatchObject({ kind: 'refund', source: 'refunds' })
  })

  test.each([
    ['of another account', { account: `0x${'ef'.repeat(20)}` }, 404],
    ['of a run that is not there', { ref: 'run_01k1j8dq00b4d6f8h1k3m5p7r9' }, 404],
    ['of a deposit that is not there', { ref: 'dep_01k1j8dq00b4d6f8h1k3m5p7r9' }, 404],
    ['of nothing', { ref: 'invoice' }, 404],
    ['without a reason', { reason: '  ' }, 400],
    ['of less than nothing', { amount_nusd: -5 }, 400],
  ])('A refund %s is refused.', async (_, more, status) => {
    const before = await balance()
    expect((await refund(1, more)).status).toBe(status)
    expect(await balance()).toBe(before)
  })
})

describe('a refund of a deposit', () => {
  const paper = (state: object, held = 0n) => {
    const row = deposit({ account: 'alice', status: 'finalized', amount: 60n, ...state })
    const accounts = [accountRow({ held })]
    const made = paperUnit({ accounts, deposits: [row], parts: [refundRows] })
    noteRefunded(made.unit, { account: 'alice', ref: row.id }, { total: 0n, count: 0 })
    const refund = (amount: bigint) =>
      refundDeposit(made.unit, { account: 'alice', ref: row.id, amount })
    return { ...made, refund }
  }

  test('takes from the balance what is paid back, up to the deposit.', () => {
    const { refund, tracked } = paper({})
    expect(refund(40n)).toMatchObject({ refunded: 40n, balance: 60n })
    expect(() => refund(21n)).toThrow('At most 20 nano-USD')
    expect(refund(20n)).toMatchObject({ refunded: 60n, balance: 40n })
    expect(tracked.added.transfers.map(({ source, target }) => [source, target])).toEqual([
      ['user', 'deposits'],
      ['user', 'deposits'],
    ])
  })

  test('leaves what runs hold, and waits until the deposit is final.', () => {
    expect(() => paper({}, 70n).refund(40n)).toThrow('The available balance is less')
    expect(() => paper({ status: 'credited' }).refund(1n)).toThrow('once it is final')
  })
})
