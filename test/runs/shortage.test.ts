import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { looksLikeStatus, notAStatus, toCount } from '../../src/kernel/status-safe.ts'
import type { Shortage } from '../../src/ledger/hold.ts'
import { explainShortage } from '../../src/runs/shortage.ts'
import type { KeyRow } from '../../src/storage/db/schema/schema.ts'
import { promise } from '../support/promise.ts'
import { expectSettled, lastRun, modelsToml, until } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const model = {
  prices: { inputPusd: 3_000_000n, outputPusd: 15_000_000n, requestNusd: 0n },
  kind: 'chat' as const,
}
const bound = {
  inputTokens: 10_000,
  inputBytes: 9000,
  n: 1,
  maxTokens: 14_000,
  outputTokens: 14_000,
}
const run = {
  model: model as never,
  bound,
  discountBps: 0,
  fit: false,
  limit: 'max_tokens',
  depositUrl: 'https://gw.example/dashboard/deposits',
}
const crawler = { id: 'key_1', name: 'crawler-01' } as KeyRow
const short: Shortage = {
  required: 240_000_000n,
  room: { available: 60_000_000n, limitedBy: 'key', keyId: 'key_1' },
  key: crawler,
  isOwn: true,
  held: 0n,
  resetsAt: Date.UTC(2026, 6, 20),
  most: 46_500_000n,
  isOnlyHeld: false,
}
const words = (more: Partial<Shortage>, of: Partial<typeof run> = {}) =>
  explainShortage({ ...short, ...more }, { ...run, ...of }).message

describe('the sentence of a 402', () => {
  promise`D31 H: A 402 names the amounts and the ways out, and no number of it looks like a status.`
  test('names the amounts, the key, when it has more again, and every way out', () => {
    expect(words({})).toBe(
      'This run may cost $0.24, and key crawler-01 has $0.06 left until Mon, 20 Jul 2026, ' +
        '00:00 UTC. Lower max_tokens to 1,100, send X-Counterfoil-Fit: true, or raise the cap.',
    )
  })

  test('names a key above by its id, and no way that does not lead out', () => {
    const above = { isOwn: false, resetsAt: null, key: { ...crawler, id: 'key_2' } }
    expect(words({ ...above, most: 1n })).toBe(
      'This run may cost $0.24, and key key_2 has $0.06 left. Send less or raise the cap.',
    )
    expect(words({}, { fit: true, limit: 'max_output_tokens' })).toEndWith(
      ' Lower max_output_tokens to 1,100 or raise the cap.',
    )
  })

  test('says of a balance where to deposit, and what other runs hold of it', () => {
    const room = { available: 60_000_000n, limitedBy: 'balance' as const }
    expect(words({ room, key: undefined, resetsAt: null, held: 1_500_000_000n })).toBe(
      'This run may cost $0.24, and the balance has $0.06 left, beside $1.50 held for runs that ' +
        'go on. Deposit at https://gw.example/dashboard/deposits, lower max_tokens to 1,100, or ' +
        'send X-Counterfoil-Fit: true.',
    )
  })

  test('says of a limit of one run that it is not the cap', () => {
    const room = { ...short.room, limitedBy: 'max_cost_per_run' as const }
    expect(words({ room })).toStartWith(
      'This run may cost $0.24, and key crawler-01 lets a single run cost $0.06 ' +
        '(limits.max_cost_per_run_nusd, apart from its cap).',
    )
  })

  test('rounds what a run may cost up and the rest down, small amounts to two digits', () => {
    const room = { ...short.room, available: 12_399n }
    expect(words({ required: 12_401n, room })).toStartWith(
      'This run may cost $0.000013, and key crawler-01 has $0.000012 left',
    )
  })
})

describe('no number of a 402 looks like a status', () => {
  const anyAmount = fc.oneof(
    fc.bigInt({ min: 0n, max: 9_000_000_000_000_000n }),
    fc.bigInt({ min: 0n, max: 1_000_000n }),
    fc.bigInt({ min: 399n, max: 600n }).map((amount) => amount * 1_000_000_000n),
    fc.bigInt({ min: 399n, max: 600n }).map((amount) => amount * 1_000_000n),
  )

  promise`D31`
  test('in its words, its decimals and the tokens it offers', () => {
    const tokens = fc.integer({ min: 0, max: 700_000 })
    fc.assert(
      fc.property(anyAmount, anyAmount, anyAmount, tokens, (required, available, held, most) => {
        const room = { ...short.room, available }
        const { message = '', metadata } = explainShortage(
          { ...short, required, room, held, most: BigInt(most) * 15_000n + 30_000_000n },
          { ...run, bound: { ...bound, maxTokens: 700_001, outputTokens: 700_001 } },
        )
        expect(looksLikeStatus(message)).toBe(false)
        expect(looksLikeStatus(JSON.stringify(metadata))).toBe(false)
        expect(metadata?.['max_affordable_output_tokens']).toBeLessThanOrEqual(most)
      }),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['0.402', '0.4020'],
    ['402.00', '0402.00'],
    ['1402.50', '1402.50'],
    ['0.24', '0.24'],
    ['12.500000001', '12.500000001'],
  ])('%s is written %s', (decimal, written) => {
    expect(notAStatus(decimal)).toBe(written)
    expect(Number(written)).toBe(Number(decimal))
  })

  test.each([
    [1100, '1,100'],
    [1402, '1402'],
    [402_100, '402100'],
    [99, '99'],
    [429, '0429'],
  ])('%d tokens are written %s', (count, written) => {
    expect(toCount(count)).toBe(written)
    expect(looksLikeStatus(written)).toBe(false)
  })

  test('a key whose name has such a number is named by its id', () => {
    expect(words({ key: { ...crawler, name: 'shard 503' } })).toContain('and key key_1 has')
  })
})

describe('runs of the same key in the way', () => {
  let w: World
  let stub: StubUpstream
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ toml: modelsToml(stub.url, ['stall', 'normal']) })
    await w.key({ balance: usd })
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  const messages = [{ role: 'user', content: 'hi' }]
  const ask = (key: string, name: string, signal?: AbortSignal) =>
    w.call('/v1/chat/completions', {
      key,
      json: { model: `stub/${name}`, messages, max_tokens: 10 },
      ...(signal ? { signal } : {}),
    })

  promise`D31`
  test('are 402 with Retry-After and x-should-retry: true, and the run is taken when they end', async () => {
    expect((await ask((await w.key()).secret, 'normal')).status).toBe(200)
    const { hold, cost } = await lastRun(w)
    const { secret } = await w.key({ capLimit: hold + cost })
    const leaves = new AbortController()
    const waiting = ask(secret, 'stall', leaves.signal).catch(() => undefined)
    await until('the run that waits', () => w.deps.live.count() === 1)
    const refused = await ask(secret, 'normal')
    const { error } = await refused.json()
    expect(refused.status).toBe(402)
    expect(refused.headers.get('x-should-retry')).toBe('true')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(error.type).toBe('cap_exceeded')
    expect(error.metadata.held_nusd).toBe(Number(hold))
    expect(error.message).toContain('Wait for a run of this key to end')
    leaves.abort()
    await waiting
    await until('the end of the run', () => w.deps.live.count() === 0)
    expect((await ask(secret, 'normal')).status).toBe(200)
  })

  test('give no reason to wait where the cap is too small without them', async () => {
    const { hold } = await lastRun(w)
    const { secret } = await w.key({ capLimit: hold - 1n })
    const refused = await ask(secret, 'normal')
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([402, 'false'])
    expect(refused.headers.get('retry-after')).toBeNull()
    await refused.text()
  })
})
