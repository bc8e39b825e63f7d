import { describe, expect, test } from 'bun:test'
import { isId, makeIds } from '../../src/kernel/ids.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import { promise } from '../support/promise.ts'

describe('an id', () => {
  const at = Date.UTC(2026, 10, 20)
  const many = () => {
    const ids = makeIds({ now: () => at }, systemRandom())
    return Array.from({ length: 10_000 }, () => ids.make('rcpt'))
  }

  promise`G4 H: An id cannot be guessed from others. It tells its time, as sortable ids do.`
  test('ids of one moment share its time and nothing that tells the next', () => {
    const ids = many()
    expect(ids.every((id) => isId('rcpt', id))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(ids.map((id) => id.slice(0, 15))).size).toBe(1)
    for (let place = 15; place < 31; place++) {
      // 80 bits, all of them used: each of the 32 digits stands in each place.
      expect(new Set(ids.map((id) => id[place])).size).toBe(32)
    }
    const rising = ids.filter((id, i) => id > (ids[i - 1] ?? '')).length
    expect(rising).toBeWithin(4500, 5500)
  })

  test.each(['', 'rcpt_', 'run_', `rcpt_${'0'.repeat(25)}`, `rcpt_${'0'.repeat(27)}`])(
    '%j is none',
    (text) => expect(isId('rcpt', text)).toBe(false),
  )
})
