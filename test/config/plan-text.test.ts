import { expect, test } from 'bun:test'
import { withMaxKeys } from '../../src/config/plan-text.ts'

test('More keys than a plan allows raise its limit, also of a plan that is written already.', () => {
  expect(withMaxKeys('', 'free', 210)).toBe('[[plans]]\nid = "free"\nlimits = { max_keys = 210 }\n')
  const own = '# ours\n[[plans]]\nid = "free" # all\nlimits = { rpm = 5, max_keys = 9 }\n'
  expect(withMaxKeys(own, 'free', 30)).toBe(own.replace('max_keys = 9', 'max_keys = 30'))
  const apart = '[[plans]]\nid = "free"\n[plans.limits]\nrpm = 5\n'
  expect(withMaxKeys(apart, 'free', 30)).toContain('max_keys = 30')
})
