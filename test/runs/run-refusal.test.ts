import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../src/kernel/refusal.ts'
import { UpstreamFailure } from '../../src/models/upstream/upstream.ts'
import { isByClient } from '../../src/runs/run-refusal.ts'

const calm = { hasTrouble: false }

describe('a run that ended at no cost', () => {
  test.each(['insufficient_balance', 'cap_exceeded'] as const)(
    'counts against its account where its purse did not cover the model: %s',
    (type) => {
      expect(isByClient(calm, new Refusal(type), undefined)).toBe(true)
      expect(isByClient({ hasTrouble: true }, new Refusal(type), undefined)).toBe(false)
    },
  )

  test('does not count where the service refused or failed', () => {
    expect(isByClient(calm, new Refusal('conflict'), undefined)).toBe(false)
    expect(isByClient(calm, new UpstreamFailure('unreachable'), undefined)).toBe(false)
    expect(isByClient(calm, new Error('a bug'), undefined)).toBe(false)
  })
})
