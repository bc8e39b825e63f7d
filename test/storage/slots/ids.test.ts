import { describe, expect, test } from 'bun:test'
import { isToken, newToken } from '../../../src/access/accounts/session.ts'
import { isSecret, makeSecret, markIn, secretPrefix } from '../../../src/access/keys/secret.ts'
import { firstIdAt, isId, makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import {
  elsewhereById,
  elsewhereInPath,
  isShardId,
  markOf,
  shardAmong,
  slotCount,
  slotOf,
  slotOfMark,
} from '../../../src/kernel/shard.ts'
import { promise } from '../../support/promise.ts'

const random = systemRandom()
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
const shard = shardAmong('s3', [
  { id: 's3', slots: range(0, 512), url: undefined },
  { id: 's4', slots: range(512, 1024), url: undefined },
])

describe('a slot', () => {
  test('is the first ten bits of SHA-256 of the address in lower case', () => {
    // printf 0xf39f… | sha256sum begins with dffe.
    const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
    expect(slotOf(address)).toBe(0xdffe >> 6)
    expect(slotOf(address.toLowerCase())).toBe(895)
    expect(slotOf('0x70997970c51812dc3a010c7d01b50e0d17dc79c8')).toBe(506)
  })

  test('has two characters of its own, which sort as it does', () => {
    const marks = range(0, slotCount).map(markOf)
    expect([marks[0], marks[31], marks[32], marks[895], marks[1023]]).toEqual([
      ...['00', '0z', '10', 'vz', 'zz'],
    ])
    expect(marks.toSorted()).toEqual(marks)
    expect(marks.map(slotOfMark)).toEqual(range(0, slotCount))
    expect(['', '0', 'A0', '0A', '000', 'u0', '-0'].map(slotOfMark)).toEqual(
      Array.from({ length: 7 }, () => undefined),
    )
  })
})

describe('ids of a shard', () => {
  const at = Date.UTC(2026, 10, 20)
  const ids = makeIds({ now: () => at }, random, 's3')

  promise`Q3`
  test('begin with its two characters, keep their length, and sort by time', () => {
    const made = range(0, 10_000).map(() => ids.make('rcpt'))
    expect(made.every((id) => isId('rcpt', id) && id.startsWith('rcpt_s3'))).toBe(true)
    expect(new Set(made).size).toBe(made.length)
    for (let place = 17; place < 31; place++) {
      // 70 bits, all of them used.
      expect(new Set(made.map((id) => id[place])).size).toBe(32)
    }
    expect(made.every((id) => id >= firstIdAt('rcpt', at, 's3'))).toBe(true)
    expect(made.every((id) => id < firstIdAt('rcpt', at + 1, 's3'))).toBe(true)
  })

  test('are not confused with those made without shards', () => {
    const plain = makeIds({ now: () => at }, random)
    expect(plain.make('run')).toMatch(/^run_01/)
    expect(isShardId('01')).toBe(false)
    expect(elsewhereById(shard, plain.make('run'))).toBeUndefined()
  })

  test('name the other shard that made them, in a path and a query too', () => {
    const other = makeIds({ now: () => at }, random, 's4').make('run')
    expect(elsewhereById(shard, other)).toBe('s4')
    expect(elsewhereById(shard, ids.make('run'))).toBeUndefined()
    expect(elsewhereById(shard, makeIds({ now: () => at }, random, 's9').make('run'))).toBe(
      undefined,
    )
    expect(elsewhereById(undefined, other)).toBeUndefined()
    expect(elsewhereInPath(shard, `http://h/v1/runs/${other}/cancel`)).toBe('s4')
    expect(elsewhereInPath(shard, `http://h/v1/runs?limit=1&after=${other}`)).toBe('s4')
    expect(elsewhereInPath(shard, 'http://h/v1/runs?after=run_s4')).toBeUndefined()
  })
})

describe('a secret and a session of a slot', () => {
  promise`Q3 H: Secrets and sessions of a shard keep their form and at least 240 random bits, and
    ids their length and order.`
  test('keep the form, the length and the checksum, and carry 240 and 246 random bits', () => {
    const secrets = range(0, 5000).map(() => makeSecret(random, secretPrefix, 'vz'))
    expect(secrets.every((one) => isSecret(one) && one.length === 60)).toBe(true)
    expect(secrets.every((one) => one.startsWith('sk-service-vz') && markIn(one) === 'vz')).toBe(
      true,
    )
    expect(new Set(secrets).size).toBe(secrets.length)
    // The first random digit of 41 stands for 240 bits: 0 to 3, and the others for all 62.
    expect(new Set(secrets.map((one) => one.slice(14, 15))).size).toBe(62)
    const tokens = range(0, 5000).map(() => newToken(random, 'vz'))
    expect(tokens.every((one) => isToken(one) && one.startsWith('vz'))).toBe(true)
    expect(new Set(tokens).size).toBe(tokens.length)
    for (let place = 2; place < 43; place++) {
      expect(new Set(tokens.map((one) => one[place])).size).toBe(64)
    }
  })
})
