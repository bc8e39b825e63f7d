import { describe, expect, test } from 'bun:test'
import { type ChooseState, choose, type StepState } from '../../src/models/choose.ts'
import type { Balance, RouteStep } from '../../src/models/model.ts'
import { seeded } from '../support/seeded.ts'

const step = (upstream: string, weight?: number): RouteStep => ({
  upstream,
  model: 'm',
  ...(weight === undefined ? {} : { weight }),
})
const plain: StepState = { isReady: true, latencyMs: undefined, load: 0, cost: undefined }

/** What is known of the steps, by the names of their upstreams. */
function known(balance: Balance, states: Record<string, Partial<StepState>> = {}): ChooseState {
  const of = ({ upstream }: RouteStep) => ({ ...plain, ...states[upstream] })
  return { balance, random: seeded(11), of }
}
const names = (steps: readonly RouteStep[]) => steps.map(({ upstream }) => upstream).join('')

/** How often each order came, of so many requests. */
function orders(steps: RouteStep[], state: ChooseState, cached?: RouteStep, count = 10_000) {
  const seen: Record<string, number> = {}
  for (let i = 0; i < count; i++) {
    const order = names(choose(steps, state, cached))
    seen[order] = (seen[order] ?? 0) + 1
  }
  return seen
}

describe('the order of the steps', () => {
  const route = [step('a', 8), step('b', 2), step('c'), step('d', 1), step('e', 1)]

  test('keeps groups in the order of the route, each step once', () => {
    const seen = Object.keys(orders(route, known('weight')))
    expect(seen.sort()).toEqual(['abcde', 'abced', 'bacde', 'baced'])
    expect(orders(route, known('order'), route[1])).toEqual({ abcde: 10_000 })
  })

  test('follows the weights within two per cent', () => {
    const seen = orders([step('a', 8), step('b', 2)], known('weight'), undefined, 100_000)
    expect(Math.abs((seen['ab'] ?? 0) / 100_000 - 0.8)).toBeLessThan(0.02 * 0.8)
    expect(Math.abs((seen['ba'] ?? 0) / 100_000 - 0.2)).toBeLessThan(0.02 * 0.2)
  })

  test('puts steps that are not ready last in their group, none of them away', () => {
    const state = known('weight', { a: { isReady: false }, c: { isReady: false } })
    expect(Object.keys(orders(route, state)).sort()).toEqual(['bacde', 'baced'])
  })

  test('begins with the step that has the cache, while it is ready and in its own group', () => {
    expect(Object.keys(orders(route, known('weight'), route[1])).sort()).toEqual(['bacde', 'baced'])
    const seen = orders(route, known('weight'), route[4])
    expect(Object.keys(seen).sort()).toEqual(['abced', 'baced'])
    const down = known('weight', { b: { isReady: false } })
    expect(Object.keys(orders(route, down, route[1])).sort()).toEqual(['abcde', 'abced'])
  })

  test('asks the fastest, and another one time in fifty', () => {
    const three = [step('a', 1), step('b', 1), step('c', 1)]
    const state = known('latency', { a: { latencyMs: 900 }, b: { latencyMs: 100 } })
    const seen = orders(three, state)
    expect(Object.keys(seen).sort()).toEqual(['abc', 'bac', 'cba'])
    const explored = (seen['abc'] ?? 0) + (seen['cba'] ?? 0)
    expect(explored).toBeGreaterThan(140)
    expect(explored).toBeLessThan(260)
    // One that is not ready is neither asked first nor seen again.
    const down = known('latency', { a: { latencyMs: 900 }, b: { latencyMs: 100, isReady: false } })
    expect(Object.keys(orders(three, down)).every((order) => order.endsWith('b'))).toBe(true)
  })

  test('asks the cheapest; a cost that is not known is above any other', () => {
    const three = [step('a', 1), step('b', 1), step('c', 1)]
    expect(orders(three, known('cost', { b: { cost: 7n }, c: { cost: 3n } }))).toEqual({
      cba: 10_000,
    })
  })

  test('asks the least busy for its weight', () => {
    const two = [step('a', 3), step('b', 1)]
    expect(orders(two, known('least-busy', { a: { load: 5 }, b: { load: 2 } }))).toEqual({
      ab: 10_000,
    })
    expect(orders(two, known('least-busy', { a: { load: 7 }, b: { load: 2 } }))).toEqual({
      ba: 10_000,
    })
  })

  test('never loses or repeats a step', () => {
    const random = seeded(5)
    const balances: Balance[] = ['order', 'weight', 'latency', 'cost', 'least-busy']
    for (let i = 0; i < 5000; i++) {
      const steps = Array.from({ length: 1 + Math.floor(random() * 7) }, (_, at) =>
        step(String(at), random() < 0.3 ? undefined : 1 + Math.floor(random() * 9)),
      )
      const of = (): StepState => ({
        isReady: random() < 0.7,
        latencyMs: random() < 0.3 ? undefined : random() * 1000,
        load: Math.floor(random() * 5),
        cost: random() < 0.3 ? undefined : BigInt(Math.floor(random() * 9)),
      })
      const balance = balances[i % balances.length] ?? 'weight'
      const cached = steps[Math.floor(random() * steps.length * 2)]
      const order = choose(steps, { balance, random, of }, cached)
      expect(names(order).split('').sort().join('')).toBe(names(steps))
    }
  })
})
