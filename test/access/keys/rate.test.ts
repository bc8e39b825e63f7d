import { describe, expect, test } from 'bun:test'
import type { Caller } from '../../../src/access/keys/key.ts'
import { countRequest } from '../../../src/access/keys/rate.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { type Limiter, makeLimiter } from '../../../src/web/http/limits.ts'

const still = { monotonic: () => 0 }

/** A caller whose chain has these limits, the key itself first. */
function callerOf(...limits: [id: string, rpm: number | null][]): Caller {
  const chain = limits.map(([id, rpm]) => ({ id, rpm }) as KeyRow)
  const [key] = chain
  if (!key) throw new Error('no key')
  const plan = { limits: { rpm: 10 } } as Caller['plan']
  return { account: '0x', suspended: false, plan, chain, key }
}

/** How many requests a caller has left, and of which limit that is. */
const counted = (limiter: Limiter, caller: Caller, nodes = 1) => {
  const { rpm, verdict } = countRequest(limiter, caller, nodes)
  return verdict.ok ? `${verdict.remaining} of ${rpm}` : `none of ${rpm}`
}

describe('a request', () => {
  test('counts against every key of the chain, and tells of the one with the least left', () => {
    const limiter = makeLimiter(still)
    const [own, above] = [callerOf(['own', 4], ['top', 3]), callerOf(['top', 3])]
    expect([counted(limiter, own), counted(limiter, above)]).toEqual(['2 of 3', '1 of 3'])
    expect([counted(limiter, own), counted(limiter, own)]).toEqual(['0 of 3', 'none of 3'])
    expect(counted(limiter, callerOf(['own', 4]))).toBe('1 of 4')
  })

  test('that one key refuses counts against none', () => {
    const limiter = makeLimiter(still)
    const [caller, alone] = [callerOf(['own', 5], ['top', 1]), callerOf(['own', 5])]
    expect(counted(limiter, caller)).toBe('0 of 1')
    for (let i = 0; i < 9; i++) expect(counted(limiter, caller)).toBe('none of 1')
    expect(counted(limiter, alone)).toBe('3 of 5')
  })

  test('tells of the key itself where a key above has as many left', () => {
    const limiter = makeLimiter(still)
    counted(limiter, callerOf(['top', 5]))
    expect(counted(limiter, callerOf(['own', 4], ['top', 5]))).toBe('3 of 4')
  })

  test('has the limit of the plan where the key has none or a higher one', () => {
    for (const rpm of [null, 11, 10]) {
      expect(counted(makeLimiter(still), callerOf(['own', rpm]))).toBe('9 of 10')
    }
  })

  test('has its part of the limit where there are several nodes, rounded up', () => {
    const limiter = makeLimiter(still)
    const caller = callerOf(['own', 5], ['top', null])
    expect([counted(limiter, caller, 2), counted(limiter, caller, 2)]).toEqual(['2 of 3', '1 of 3'])
  })

  test('A key above its limit is refused in a flood of keys too', () => {
    const limiter = makeLimiter(still, 0)
    const caller = callerOf(['own', 3], ['top', 3])
    expect([counted(limiter, caller), counted(limiter, caller)]).toEqual(['1 of 3', 'none of 3'])
    expect(counted(limiter, callerOf(['other', 3]))).toBe('none of 3')
  })
})
