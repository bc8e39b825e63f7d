import { expect, test } from 'bun:test'
import { errorIn, isTooLong } from '../../../src/models/upstream/refused.ts'
import { stopwatch } from '../../fuzz/run.ts'

test('a long message of an upstream is searched at its start alone', () => {
  const spent = stopwatch()
  expect(isTooLong(errorIn({ error: { message: 'too '.repeat(250_000) } }))).toBe(false)
  expect(isTooLong(errorIn({ error: 'exceed '.repeat(150_000) }))).toBe(false)
  expect(spent()).toBeLessThan(200)
  const said = `The prompt is too long. ${'x'.repeat(100_000)}`
  expect(isTooLong(errorIn({ error: { message: said } }))).toBe(true)
})
