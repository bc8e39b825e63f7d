import { describe, expect, test } from 'bun:test'
import { systemRandom } from '../../../src/kernel/random.ts'
import { makeSealer } from '../../../src/proof/signer/sealer.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import type { IdempotentRow } from '../../../src/storage/db/schema/schema.ts'
import { makeReplies, type Reply, replyMax } from '../../../src/storage/idempotency/call.ts'
import { testPrivateKey } from '../../support/world.ts'

const repliesOf = (hex: string) => makeReplies(makeSealer(signerFromHex(hex), systemRandom()))
const replies = repliesOf(testPrivateKey)
const later = repliesOf('59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const scope = 'a scope'
const ask = '{"model":"m"}'
const given: Reply = { status: 201, headers: { 'x-receipt-id': 'rcpt_1' }, body: '{}' }

const rowOf = (reply: Uint8Array | null, body = ask): IdempotentRow => ({
  scope,
  fingerprint: replies.fingerprint(body),
  node: 'node_1',
  runId: 'run_1',
  reply,
  createdAt: 0,
  until: 1,
})

/** What asking again comes to. */
function again(row: IdempotentRow, by = replies, body = ask): unknown {
  try {
    return by.answerOf(row, { scope, fingerprint: by.fingerprint(body) })
  } catch (error) {
    return error
  }
}

describe('a call that is made again', () => {
  test('is answered as it was', () => {
    expect(again(rowOf(replies.seal(scope, given)))).toEqual(given)
    const longest = { ...given, body: 'x'.repeat(replyMax) }
    expect(again(rowOf(replies.seal(scope, longest)))).toEqual(longest)
  })

  test('is 422 with another body, and 409 while nothing is answered', () => {
    const row = rowOf(replies.seal(scope, given))
    expect(again(row, replies, `${ask} `)).toMatchObject({ type: 'idempotency_mismatch' })
    expect(again(rowOf(null))).toMatchObject({ type: 'idempotency_in_progress' })
  })

  const unread: [string, IdempotentRow, typeof replies][] = [
    ['too long', rowOf(replies.seal(scope, { ...given, body: 'x'.repeat(replyMax + 1) })), replies],
    ['erased', rowOf(new Uint8Array()), replies],
    ['sealed before the signer was rotated', rowOf(replies.seal(scope, given)), later],
    ['taken from another call', rowOf(replies.seal('other', given)), replies],
  ]
  test.each(unread)('is a conflict that names the run, and not made again: %s', (_, row, by) => {
    expect(again(row, by)).toMatchObject({
      type: 'conflict',
      detail: { metadata: { run_id: 'run_1' }, headers: { 'x-should-retry': 'false' } },
    })
  })
})
