import { expect, test } from 'bun:test'
import { makeIdleLines } from '../../../src/models/upstream/wire/idle.ts'
import { promise } from '../../support/promise.ts'

const lineOf = (account: string, id: number) => ({ account, id })

promise`E11`
test('an idle connection is only given to its own account, the newest first', () => {
  const idle = makeIdleLines<{ account: string; id: number }>(64)
  for (const [account, id] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
  ] as const) {
    expect(idle.keep(lineOf(account, id))).toBeUndefined()
  }
  const taken = ['c', 'a', 'b', 'b', 'a', 'a'].map((account) => idle.take(account)?.id)
  expect(taken).toEqual([undefined, 3, 2, undefined, 1, undefined])
})

promise`E11`
test('an account keeps at most 64 idle connections', () => {
  const idle = makeIdleLines<{ account: string; id: number }>(64)
  for (let id = 0; id < 64; id++) expect(idle.keep(lineOf('a', id))).toBeUndefined()
  const surplus = lineOf('a', 64)
  expect(idle.keep(surplus)).toBe(surplus)
  expect(idle.keep(lineOf('b', 65))).toBeUndefined()
})

promise`E11`
test('with 2,048 idle connections each further one closes the oldest', () => {
  const idle = makeIdleLines<{ account: string; id: number }>(64)
  for (let id = 0; id < 2048; id++) expect(idle.keep(lineOf(`${id}`, id))).toBeUndefined()
  for (let id = 2048; id < 2100; id++) expect(idle.keep(lineOf(`${id}`, id))?.id).toBe(id - 2048)
  expect([idle.take('51'), idle.take('52')?.id]).toEqual([undefined, 52])
})

test('making room may close the last idle connection of the same account', () => {
  const idle = makeIdleLines<{ account: string; id: number }>(64)
  for (let id = 0; id < 2048; id++) idle.keep(lineOf(`${id}`, id))
  expect(idle.keep(lineOf('0', 2048))?.id).toBe(0)
  expect([idle.take('0')?.id, idle.take('0')]).toEqual([2048, undefined])
})

test('a connection that was removed is not given out', () => {
  const idle = makeIdleLines<{ account: string; id: number }>(64)
  const lines = [lineOf('a', 1), lineOf('a', 2)]
  for (const line of lines) idle.keep(line)
  for (const line of [lines[1], lines[1], lineOf('a', 3)]) if (line) idle.remove(line)
  expect([idle.take('a')?.id, idle.take('a')]).toEqual([1, undefined])
})
