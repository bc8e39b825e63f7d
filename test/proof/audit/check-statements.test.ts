import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ChainReverted, ChainUnavailable } from '../../../src/kernel/chain.ts'
import { auditService } from '../../../src/proof/audit/audit.ts'
import { checkHoldings, readStatements } from '../../../src/proof/audit/check-statements.ts'
import { type Service, ServiceTrouble } from '../../../src/proof/audit/service-view.ts'
import { decimalsOf, holdingsOf } from '../../../src/proof/liabilities/treasury.ts'
import { sumsBelow } from '../../../src/verify/sum-tree.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { usd, type World, world } from '../../support/world.ts'
import { accountFor, liabilitiesFileOf } from '../../verify/liabilities-samples.ts'
import { fund, publish } from '../liabilities/publishing.ts'

type Told = { data: { statement: Record<string, string> }[]; has_more: boolean }

describe('what a service says it owes', () => {
  let w: World
  /** The file of the first statement, under a head of the log without the others. */
  let older: unknown
  beforeAll(async () => {
    w = await world({ now: Date.UTC(2026, 10, 20, 12) })
    await fund(w, [5n * usd, 2n * usd])
    for (let i = 0; i < 3; i++) {
      w.advance(1000)
      await publish(w)
      older ??= await (await w.call('/liabilities/1')).json()
    }
  })
  afterAll(() => w.stop())

  /** What the audit says of a service that changes some of its answers. */
  async function audited(change: (path: string, answer: never) => unknown = (_, told) => told) {
    const service: Service = {
      get: async (path) => {
        const answer = await w.call(path)
        if (answer.status !== 200) throw new ServiceTrouble(path, answer.status === 404)
        return change(path, (await answer.json()) as never)
      },
    }
    const { checks } = await auditService({ service })
    const { status, reason } = checks.find(({ name }) => name === 'liabilities') ?? {}
    return `${status}: ${reason}`
  }
  const listed = (change: (told: Told) => unknown) =>
    audited((path, told) => {
      if (path.startsWith('/liabilities?')) change(told)
      return told
    })

  test('The statements hold, read page by page.', async () => {
    const holds =
      'pass: 3 statements in this log; the newest is of 7.00 USD at 2026-11-20T12:00:03.000Z.'
    expect(await audited()).toBe(holds)
    const byOne = await audited((path, told: Told) =>
      path.startsWith('/liabilities?')
        ? w.call(path.replace('limit=100', 'limit=1')).then((answer) => answer.json())
        : told,
    )
    expect(byOne).toBe(holds)
  })

  test('holds under an older head of the same log', async () => {
    const kept = await audited((path, told) => (path === '/liabilities/1' ? older : told))
    expect(kept).toStartWith('pass: 3 statements')
  })

  test('may be nothing, or not yet anything', async () => {
    expect(await listed((told) => Object.assign(told, { data: [] }))).toBe(
      'pass: The service has not published its liabilities yet.',
    )
    const silent = await audited((path, told) => {
      if (path.startsWith('/liabilities')) throw new ServiceTrouble('no such path', true)
      return told
    })
    expect(silent).toBe('skip: The service publishes no liabilities.')
    const down = await audited((path, told) => {
      if (path.startsWith('/liabilities')) throw new ServiceTrouble('It is down.')
      return told
    })
    expect(down).toBe('unavailable: It is down.')
  })

  promise`D61 H: An outsider finds a liabilities statement that was dropped, hidden or changed,
    and a treasury that holds less.`
  test('is found out where one is left out, changed, or differs from its file', async () => {
    const gaps = 'fail: The liabilities statements are not numbered one by one.'
    expect(await listed(({ data }) => data.splice(1, 1))).toBe(gaps)
    expect(await listed(({ data }) => data.pop())).toBe(gaps)
    const endless = await listed((told) => Object.assign(told, { has_more: true }))
    expect(endless).toBe(gaps)
    expect(
      await listed(({ data }) => Object.assign(data[1]?.statement ?? {}, { root: zero })),
    ).toBe('fail: Statement 3 does not name the one before it.')
    expect(
      await listed(({ data }) => Object.assign(data[0]?.statement ?? {}, { total_nusd: '1' })),
    ).toBe('fail: Statement 3 of the liabilities: its file says something else than the list.')
    expect(
      await listed(({ data }) => Object.assign(data[0]?.statement ?? {}, { as_of: '1' })),
    ).toBe('fail: Statement 3 is older than the one before it.')
    expect(
      await listed(({ data }) => Object.assign(data[0]?.statement ?? {}, { number: 3 })),
    ).toContain('violates its API: statement.number not text')
    expect(await listed((told) => Object.assign(told, { data: {} }))).toContain('violates its API')
    const forged = await audited((path, told) =>
      path === '/liabilities/2' ? Object.assign(told, { signature: '0x' }) : told,
    )
    expect(forged).toBe(
      'fail: Statement 2 of the liabilities: It is not 65 bytes of lower-case hex.',
    )
  })

  test('is found out where its log is not the audited one', async () => {
    const answer = await audited((path, told: { log: { checkpoint: object } }) => {
      if (path === '/v1/anchors?limit=100') Object.assign(told.log.checkpoint, { root: zero })
      return told
    })
    expect(answer).toContain('its head of the log is of another log than the audited one.')
  })

  test('may be said twice at one moment', async () => {
    await publish(w)
    expect(await audited()).toStartWith('pass: 4 statements')
  })
})

const zero = `0x${'00'.repeat(32)}`

describe('what lies in the treasury', () => {
  const said = (more: object) => [liabilitiesFileOf({ more }).statement]
  const word = (value: bigint): `0x${string}` => `0x${value.toString(16).padStart(64, '0')}`
  const chainOf = (held: (block: unknown) => bigint) => ({
    call: async (_: string | null, data: string, block?: unknown) =>
      data === '0x313ce567' ? word(6n) : word(held(block)),
  })
  const told = async (...asked: Parameters<typeof checkHoldings>) => {
    const { status, reason } = await checkHoldings(...asked)
    return `${status}: ${reason}`
  }
  const owed = said({ total_nusd: '5000000000', treasury_nusd: '7000000000', block: '9' })
  const at = accountFor(90)

  promise`D61`
  test('covers the liabilities, or does not, and was what the service said', async () => {
    const holding = (now: bigint, then = 7_000_000n) => chainOf((b) => (b === 9 ? then : now))
    expect(await told(holding(5_000_000n), owed)).toBe(
      `pass: The treasury ${at} holds 5.00 USD; the liabilities are 5.00.`,
    )
    expect(await told(holding(4_999_999n), owed)).toBe(
      `fail: The treasury ${at} holds 4.999999 USD; the liabilities are 5.00.`,
    )
    expect(await told(holding(5_000_000n, 6_999_999n), owed)).toBe(
      'fail: At block 9 the treasury held 6.999999 USD; the service says 7.00.',
    )
    const unread = said({ total_nusd: '5000000000', treasury_nusd: '0', block: '0' })
    expect(await told(holding(5_000_000n, 1n), unread)).toStartWith('pass')
  })

  test('is not decided by what a server forgot, but by what it refuses otherwise', async () => {
    const failing = (trouble: Error, isThen: boolean) =>
      chainOf((block) => {
        if ((block === 9) === isThen) throw trouble
        return block === 9 ? 7_000_000n : 5_000_000n
      })
    expect(await told(failing(new ChainUnavailable('refused'), true), owed)).toStartWith('pass')
    for (const chain of [
      failing(new ChainUnavailable('refused'), false),
      failing(new ChainUnavailable('timeout'), true),
    ]) {
      expect(await rejectionOf(checkHoldings(chain, owed))).toBeInstanceOf(ChainUnavailable)
    }
    const token = `fail: The chain has no token at ${accountFor(91)}.`
    expect(await told(failing(new ChainReverted('0x'), true), owed)).toBe(token)
    expect(await told({ call: async () => '0x' }, owed)).toBe(token)
    expect(await told({ call: async () => word(78n) }, owed)).toBe(token)
    const unheld = {
      call: async (_: unknown, data: string) => (data === '0x313ce567' ? word(6n) : '0x'),
    }
    expect(await told(unheld as never, owed)).toBe(token)
  })

  test('is told in nano-dollars up to what a statement can hold, of up to 77 decimals', async () => {
    const holds = (held: bigint, decimals: number) =>
      holdingsOf({ call: async () => word(held) }, { holder: at, token: at, decimals }, 'latest')
    expect(await holds(sumsBelow - 1n, 9)).toBe(sumsBelow - 1n)
    expect(await holds(sumsBelow, 9)).toBe(sumsBelow - 1n)
    expect(await holds(7_999n, 12)).toBe(7n)
    expect(await decimalsOf({ call: async () => word(77n) }, at)).toBe(77)
  })

  test('is not asked for where nothing is said, or nothing can be deposited', async () => {
    const chain = chainOf(() => 0n)
    expect(await told(chain, undefined)).toBe('skip: The service publishes no liabilities.')
    expect(await told(chain, [])).toBe('skip: The service publishes no liabilities.')
    expect(await told(chain, said({ treasury: `0x${'0'.repeat(40)}` }))).toBe(
      'skip: The newest statement names no treasury.',
    )
  })

  test('The answer about the treasury is read strictly.', async () => {
    const service = (answer: unknown): Service => ({ get: async () => answer })
    expect(
      await rejectionOf(readStatements(service({ data: [5], has_more: false }))),
    ).toBeInstanceOf(Error)
    expect(
      await readStatements(service({ data: [], has_more: true })).catch((e) => e.message),
    ).toBe('The liabilities statements are not numbered one by one.')
  })
})
