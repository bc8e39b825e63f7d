import { expect, test } from 'bun:test'
import { Refusal, type RefusalType, refusals } from '../../../src/kernel/refusal.ts'
import { refusalHeaders } from '../../../src/web/http/refusal-headers.ts'

test('a refusal that will not change is not retried, one that passes may be', () => {
  const advice = (type: RefusalType, headers = {}) =>
    refusalHeaders(new Refusal(type, { headers }))['x-should-retry']
  for (const [type, [status]] of Object.entries(refusals)) {
    const isFinal = status < 500 && status !== 409 && status !== 429
    expect([type, advice(type as RefusalType)]).toEqual([type, isFinal ? 'false' : undefined])
  }
  expect(advice('insufficient_balance', { 'x-should-retry': 'true' })).toBe('true')
  expect(advice('conflict', { 'x-should-retry': 'false' })).toBe('false')
})
