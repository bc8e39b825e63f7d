import { expect, test } from 'bun:test'
import { checkMoves, type ToldMove } from '../../../src/proof/audit/check-moves.ts'
import { promise } from '../../support/promise.ts'

const move = { id: 'mov_1', slots: '300', from: 's3', to: 's4', digest: 'aa' }
const out = (state: string, more = {}): ToldMove => ({ ...move, state, ...more })
const check = (s3: ToldMove[] | undefined, s4: ToldMove[] | undefined) => {
  const { sound, open, wrong } = checkMoves([
    { shard: 's3', moves: s3 },
    { shard: 's4', moves: s4 },
  ])
  return [sound, open.length, wrong.length]
}

promise`Q4`
test('an audit of the moves of all shards finds what left and did not arrive alike', () => {
  expect(check([out('gone')], [out('here')])).toEqual([1, 0, 0])
  expect(check([out('left')], [out('here')])).toEqual([1, 0, 0])
  expect(check([out('left')], [out('arriving', { digest: null })])).toEqual([0, 1, 0])
  expect(check([out('leaving', { digest: null })], [])).toEqual([0, 0, 0])
  expect(check([out('stayed')], [out('stayed')])).toEqual([0, 0, 0])
  expect(check([out('gone')], [out('here', { digest: 'bb' })])).toEqual([0, 0, 1])
  expect(check([out('gone')], [])).toEqual([0, 0, 1])
  expect(check([], [out('here')])).toEqual([0, 0, 1])
  expect(check([out('gone')], undefined)).toEqual([0, 1, 0])
})
