import { describe, expect, test } from 'bun:test'
import { rememberCallers } from '../../../src/access/keys/caller-cache.ts'
import type { Caller } from '../../../src/access/keys/key.ts'
import { hashSecret } from '../../../src/access/keys/secret.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'

const forEver = Number.POSITIVE_INFINITY
const times = { now: 0, passed: 0 }
const clock = { now: () => times.now, monotonic: () => times.passed }

const callerOf = (id: string): Caller => {
  const key = { id, lineage: [id] } as KeyRow
  return { account: `of ${id}`, suspended: false, plan: {} as Caller['plan'], chain: [key], key }
}

/** Callers of which some are remembered, with a clock that stands at nought. */
function remember(...names: string[]) {
  Object.assign(times, { now: 0, passed: 0 })
  const remembered = rememberCallers(clock)
  const keep = (name: string, endsAt = forEver, freshUntil = 1000) =>
    remembered.keep(hashSecret(name), callerOf(name), endsAt, freshUntil)
  for (const name of names) keep(name)
  const known = (name: string) => {
    const both = [remembered.ofSecret(name), remembered.ofHash(hashSecret(name))]
    expect(both[0]?.key.id).toBe(both[1]?.key.id as string)
    return both[0]?.key.id
  }
  return { ...remembered, keep, known }
}

describe('a caller who was read', () => {
  test('A cached caller is found by its secret and by its hash, no other caller is', () => {
    const { known } = remember('a', 'b')
    expect(['a', 'b', 'c'].map(known)).toEqual(['a', 'b', undefined])
  })

  test('A caller is cached under its own hash, also if another was looked up meanwhile', () => {
    const { keep, known } = remember()
    expect(known('other')).toBeUndefined()
    keep('a')
    expect(known('other')).toBeUndefined()
    keep('b')
    expect(['a', 'b', 'other'].map(known)).toEqual(['a', 'b', undefined])
  })

  test('is known until it is no longer fresh, and not a moment longer', () => {
    const { keep, known } = remember()
    keep('a', forEver, 1500)
    times.passed = 1499.9
    expect(known('a')).toBe('a')
    times.passed = 1500
    expect(known('a')).toBeUndefined()
    keep('a', forEver, 2500)
    expect(known('a')).toBe('a')
  })

  test('is known until the secret ends by itself, and not a moment longer', () => {
    const { keep, known } = remember()
    keep('a', 10)
    times.now = 9
    expect(known('a')).toBe('a')
    times.now = 10
    expect(known('a')).toBeUndefined()
  })

  test('A caller is read again if only a part of the hash matches', () => {
    const { ofHash } = remember('a')
    const hash = hashSecret('a')
    const wordOf = (at: number) => hash.slice(8 * at, 8 * at + 8)
    const other = (at: number) => hash.replace(wordOf(at), 'deadbeef')
    expect([0, 1, 2, 3].map((at) => ofHash(other(at)))).toEqual(Array(4).fill(undefined) as never)
    expect(ofHash(hash)?.key.id).toBe('a')
  })

  test('is forgotten when it has changed, and the others are not', () => {
    const { drop, known } = remember('a', 'b', 'c')
    drop(({ key }) => key.id !== 'b')
    expect(['a', 'b', 'c'].map(known)).toEqual([undefined, 'b', undefined])
  })
})

test('at most 100,000 callers are remembered: the one read longest ago goes first', () => {
  const { keep, known } = remember('first', 'second')
  for (let i = 2; i < 100_000; i++) keep(`other ${i}`)
  expect(['first', 'second'].map(known)).toEqual(['first', 'second'])
  // Read again, it is the newest.
  keep('first')
  keep('one more')
  expect(['first', 'second', 'one more'].map(known)).toEqual(['first', undefined, 'one more'])
  expect(known('other 2')).toBe('other 2')
  keep('another')
  expect(['other 2', 'other 3', 'first'].map(known)).toEqual([undefined, 'other 3', 'first'])
})
