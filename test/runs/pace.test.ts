import { expect, test } from 'bun:test'
import type { Refusal } from '../../src/kernel/refusal.ts'
import { Pace } from '../../src/runs/pace.ts'

test('A request without money waits for those before it, ten seconds at most.', () => {
  const pace = new Pace()
  const now = 1000
  expect(pace.take(now, 0)).toBeUndefined()
  // Large bodies take up to three seconds each.
  for (let i = 0; i < 4; i++) pace.take(now, 32 * 1024 * 1024)
  const refused = (): Refusal | undefined => {
    try {
      pace.take(now, 0)
      return undefined
    } catch (error) {
      return error as Refusal
    }
  }
  const refusal = refused()
  expect([refusal?.type, refusal?.detail.headers?.['retry-after']]).toEqual([
    'concurrency_limited',
    '13',
  ])
  // A refused request takes no turn.
  expect(pace.take(now + 13_000, 0)).toBeUndefined()
})
