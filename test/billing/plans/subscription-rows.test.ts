import { expect, test } from 'bun:test'
import {
  addSubscription,
  subscriptionChanged,
  subscriptionOf,
  subscriptionRows,
} from '../../../src/billing/plans/subscription-rows.ts'
import type { SubscriptionRow } from '../../../src/storage/db/schema/schema.ts'
import { now, paperUnit } from '../../ledger/paper-unit.ts'

const subscription = (endedAt: number | null = null) =>
  ({ id: 'sub_1', accountId: 'alice', endedAt }) as SubscriptionRow

function desk() {
  const { unit } = paperUnit({ parts: [subscriptionRows] })
  return { unit, rows: unit.part(subscriptionRows) }
}

test('A command finds a subscription only while it goes on.', () => {
  const { unit, rows } = desk()
  rows.byAccount.set('alice', subscription(now - 1))
  expect(subscriptionOf(unit, 'alice')).toBeUndefined()
  expect(subscriptionOf(unit, 'bob')).toBeUndefined()
})

test('A subscription that begins is found by the commands behind it, and is written once.', () => {
  const { unit, rows } = desk()
  const row = subscription()
  addSubscription(unit, row)
  subscriptionChanged(unit, row)
  expect(subscriptionOf(unit, 'alice')).toBe(row)
  expect([rows.added, rows.written.size]).toEqual([[row], 0])
})

test('A subscription that changes twice is written once.', () => {
  const { unit, rows } = desk()
  const row = subscription()
  subscriptionChanged(unit, row)
  subscriptionChanged(unit, row)
  expect([rows.added, [...rows.written]]).toEqual([[], [row]])
})
