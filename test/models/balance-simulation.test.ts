import { expect, test } from 'bun:test'
import { CachePlaces } from '../../src/models/cache-places.ts'
import { choose, type StepState } from '../../src/models/choose.ts'
import type { Balance, RouteStep } from '../../src/models/model.ts'
import { askByKeys } from '../../src/models/upstream/ask-by-keys.ts'
import type { KeyPool } from '../../src/models/upstream/key-pool.ts'
import { Latencies } from '../../src/models/upstream/latencies.ts'
import { openKeyPool } from '../../src/models/upstream/open-key-pool.ts'
import { type SentMark, UpstreamFailure } from '../../src/models/upstream/upstream.ts'
import { seeded } from '../support/seeded.ts'

const count = 100_000
/** The time between two requests in ms. */
const stepMs = 10

/** A key of a simulated provider: when it is refused, and how many requests it takes a second. */
type SimulatedKey = { isDead: (at: number) => boolean; perSecond: number }

/** A simulated provider with keys, and the conversations that each of its caches has. */
class Provider {
  readonly caches = new Map<string, Set<number>>()
  readonly pool: KeyPool
  readonly latencies = new Latencies()
  private readonly windows = new Map<string, { second: number; count: number }>()
  answered = 0

  constructor(
    readonly id: string,
    readonly weight: number,
    readonly rules: { ms: number; fails: (at: number) => boolean },
    readonly keys: Record<string, SimulatedKey>,
    clock: { monotonic(): number },
    random: () => number,
  ) {
    const weighted = Object.keys(keys).map((key) => ({ name: key, key, weight: 1 }))
    const deps = { clock, random, states: new Map(), tell: () => {} }
    const pool = openKeyPool({ id }, weighted, deps)
    if (!pool) throw new Error('a simulated provider has several keys')
    this.pool = pool
  }

  /** Whether a key would take a request now. */
  private takes(name: string, at: number): boolean {
    const key = this.keys[name]
    const window = this.windows.get(name)
    const second = Math.floor(at / 1000)
    const used = window?.second === second ? window.count : 0
    return key !== undefined && !key.isDead(at) && used < key.perSecond
  }

  canServe(at: number): boolean {
    return !this.rules.fails(at) && Object.keys(this.keys).some((name) => this.takes(name, at))
  }

  /** Answers, and tells whether the conversation was in the cache of this key. */
  answer(name: string, at: number, conversation: number): boolean {
    if (this.rules.fails(at)) throw new UpstreamFailure('error', { status: 500 })
    if (this.keys[name]?.isDead(at)) throw new UpstreamFailure('denied', { status: 401 })
    const second = Math.floor(at / 1000)
    if (!this.takes(name, at)) {
      const retryAfterMs = (second + 1) * 1000 - at
      throw new UpstreamFailure('busy', { status: 429, retryAfterMs })
    }
    const window = this.windows.get(name)
    if (window?.second === second) window.count++
    else this.windows.set(name, { second, count: 1 })
    const cache = this.caches.get(name) ?? new Set()
    this.caches.set(name, cache)
    const isCached = cache.has(conversation)
    cache.add(conversation)
    this.answered++
    return isCached
  }
}

async function simulate(balance: Balance, wish: 'calm' | 'rough') {
  let now = 0
  const clock = { monotonic: () => now }
  const random = seeded(balance.length + wish.length)
  const isRough = wish === 'rough'
  const lives: SimulatedKey = { isDead: () => false, perSecond: 1000 }
  /** Down for a tenth of each 100 s. */
  const breaks = (at: number) => isRough && at % 100_000 < 10_000
  const dies = { isDead: (at: number) => isRough && at > 300_000, perSecond: 1000 }
  const tight = { isDead: () => false, perSecond: isRough ? 20 : 1000 }
  const providers = [
    new Provider('slow', 6, { ms: 900, fails: () => false }, { a: lives, b: tight }, clock, random),
    new Provider('fast', 3, { ms: 100, fails: breaks }, { c: tight, d: dies }, clock, random),
    new Provider('rare', 1, { ms: 400, fails: () => false }, { e: dies, f: tight }, clock, random),
  ]
  const find = new Map(providers.map((one) => [one.id, one]))
  const route: RouteStep[] = providers.map(({ id, weight }) => ({
    ...{ upstream: id, model: 'm', weight },
  }))
  const places = new CachePlaces(3n)
  const seen = { errors: 0, cached: 0, asked: 0, single: 0 }
  const before = new Set<number>()
  const signal = new AbortController().signal
  for (let i = 0; i < count; i++, now += stepMs) {
    // A conversation has ten turns; two hundred are open at once.
    const conversation = Math.floor(i / 2000) * 200 + (i % 200)
    const id = BigInt(conversation)
    const place = places.find('x', id, now)
    const of = ({ upstream }: RouteStep): StepState => {
      const one = find.get(upstream)
      return {
        isReady: one?.pool.isReady('m') === true,
        latencyMs: one?.latencies.of('m'),
        load: 0,
        cost: BigInt(one?.weight ?? 0),
      }
    }
    const cached = place && route.find(({ upstream }) => upstream === place.upstream)
    const couldServe = providers.some((one) => one.canServe(now))
    let isServed = false
    for (const step of choose(route, { balance, random, of }, cached)) {
      const one = find.get(step.upstream)
      if (!one) continue
      const mark: SentMark = { isSent: false }
      const key = place?.upstream === one.id ? place.key : undefined
      const call = { kind: 'chat' as const, body: { model: 'm' }, account: 'x', signal, mark, key }
      const asked = async (headers: Readonly<Record<string, string>>) =>
        one.answer(String(headers['authorization']).slice('Bearer '.length), now, conversation)
      try {
        if (await askByKeys(one.pool, call, asked)) seen.cached++
        one.latencies.note('m', one.rules.ms)
        places.note('x', id, step, { key: mark.key, at: now })
        isServed = true
        break
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
      }
    }
    seen.asked++
    if (before.has(conversation)) seen.single++
    before.add(conversation)
    if (!isServed && couldServe) seen.errors++
  }
  const share = (id: string) => (find.get(id)?.answered ?? 0) / count
  return { ...seen, share, ofCache: seen.cached / seen.single }
}

const balances: Balance[] = ['weight', 'latency', 'cost', 'least-busy', 'order']

for (const balance of balances) {
  test(`100,000 requests by ${balance} over failing, slow and limited keys end without an error while one can serve.`, async () => {
    const { errors, asked } = await simulate(balance, 'rough')
    expect({ errors, asked }).toEqual({ errors: 0, asked: count })
  })
}

test('100,000 requests keep the weights within two per cent and nearly all of one cache.', async () => {
  const { errors, share, ofCache } = await simulate('weight', 'calm')
  expect(errors).toBe(0)
  expect(Math.abs(share('slow') - 0.6)).toBeLessThan(0.02)
  expect(Math.abs(share('fast') - 0.3)).toBeLessThan(0.02)
  expect(Math.abs(share('rare') - 0.1)).toBeLessThan(0.02)
  expect(ofCache).toBeGreaterThanOrEqual(0.95)
})

test('Over failing and limited keys a conversation stays where its cache is.', async () => {
  expect((await simulate('weight', 'rough')).ofCache).toBeGreaterThanOrEqual(0.95)
})
