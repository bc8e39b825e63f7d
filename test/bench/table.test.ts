/** The table of the measurements: its columns, and what holds. */
import { expect, test } from 'bun:test'
import { holds, middle, tableOf } from '../../bench/table.ts'
import { both, type Running } from '../../bench/targets.ts'

test('A table without an older build has one column of values', () => {
  const lines = tableOf([
    { quantity: 'CPU', measured: 2.5, gate: ['≤', 3.5], aim: 2.7 },
    { quantity: 'runs a second', measured: 12_000 },
  ])
  expect(lines).toEqual([
    '| quantity | measured | gate | aim |  |',
    '| --- | --- | --- | --- | --- |',
    '| CPU | 2.50 | ≤ 3.5 | 2.70 | holds |',
    '| runs a second | 12,000 |  |  |  |',
  ])
})

test('A table with an older build shows before and after, and judges what is after', () => {
  const lines = tableOf([
    { quantity: 'WAL', measured: 3, before: 5, gate: ['≤', 2] },
    { quantity: 'settle', measured: 1, gate: ['≥', 1] },
  ])
  expect(lines).toEqual([
    '| quantity | before | after | gate | aim |  |',
    '| --- | --- | --- | --- | --- | --- |',
    '| WAL | 5 | 3 | ≤ 2 |  | **missed** |',
    '| settle |  | 1 | ≥ 1 |  | holds |',
  ])
})

test('A quantity that was not measured, or is not a number, does not hold', () => {
  expect(holds({ quantity: 'WAL', measured: 'no server', gate: ['≤', 2] })).toBeUndefined()
  expect(holds({ quantity: 'WAL', measured: Number.NaN, gate: ['≤', 2] })).toBe(false)
  expect(middle([])).toBeNaN()
})

test('A quantity is read of both gateways, and of one where there is no older build', () => {
  const named = (name: string): Running => ({
    name,
    origin: '',
    model: String,
    headers: {},
    pid: 0,
    process: { pid: 0, output: '', stop: async () => {} },
  })
  const gateway = named('after')
  const value = ({ name }: Running) => name
  expect(both({ gateway, before: named('before') }, value)).toEqual({
    measured: 'after',
    before: 'before',
  })
  expect(both({ gateway }, value)).toEqual({ measured: 'after', before: undefined })
})
