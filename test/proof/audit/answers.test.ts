import { describe, expect, test } from 'bun:test'
import {
  readAnchors,
  readCheckpoint,
  readConsistency,
  readSigners,
  WrongAnswer,
} from '../../../src/proof/audit/answers.ts'
import { owner } from '../../verify/anchor-samples.ts'
import { sampleLog } from '../../verify/proof-samples.ts'
import { facts, testSigner } from '../../verify/samples.ts'
import { anchorAnswer, oldSigner, rotatedSigner, rotationOf, signerAnswer } from './paper.ts'

const checkpoint = sampleLog(13).checkpoint()
const log = { origin: facts.issuer, checkpoint }
const page = (change: object = {}) => ({
  ...{ data: [5, 13].map(anchorAnswer), has_more: false, last_id: 'anc_0013', log },
  ...change,
})
const anchor = anchorAnswer(5)

/** What is wrong with an answer, or undefined where it is read. */
function wrongIn(read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(WrongAnswer)
    return (error as Error).message.replace(/^The service's response violates its API: /, '')
  }
}

describe('a page of anchors', () => {
  test('is read as the API says it', () => {
    const { root } = sampleLog(5).checkpoint()
    expect(readAnchors(page({ log_owner: owner, data: [anchor] }))).toEqual({
      origin: facts.issuer,
      checkpoint,
      anchors: [{ id: 'anc_0005', status: 'final', size: 5, root }],
      owner,
      hasMore: false,
      lastId: 'anc_0013',
    })
    const empty = page({ log: { ...log, checkpoint: null }, data: [], last_id: null })
    expect(readAnchors(empty)).toMatchObject({
      ...{ checkpoint: undefined, anchors: [], owner: undefined, lastId: undefined },
    })
  })

  test('has at most a thousand of them', () => {
    expect(readAnchors(page({ data: Array(1000).fill(anchor) })).anchors).toHaveLength(1000)
    expect(wrongIn(() => readAnchors(page({ data: Array(1001).fill(anchor) })))).toBe('data.')
  })

  test.each<[answer: unknown, wrong: string]>([
    [null, 'the list of anchors.'],
    [[], 'the list of anchors.'],
    [page({ log: null }), 'log.'],
    [page({ data: 'none' }), 'data.'],
    [page({ data: { length: 0 } }), 'data.'],
    [page({ log: { ...log, origin: 5 } }), 'log.origin, has_more.'],
    [page({ has_more: 'no' }), 'log.origin, has_more.'],
    [page({ has_more: undefined }), 'log.origin, has_more.'],
    [page({ log: { ...log, checkpoint: {} } }), 'checkpoint.issuer missing'],
    [page({ log_owner: 'me' }), 'log_owner not an address.'],
    [page({ data: [5] }), 'an anchor.'],
    [page({ data: [{ ...anchor, id: 5 }] }), 'an anchor.'],
    [page({ data: [{ ...anchor, status: null }] }), 'an anchor.'],
    [page({ data: [{ ...anchor, size: '5' }] }), 'size.'],
    [page({ data: [{ ...anchor, size: -1 }] }), 'size.'],
    [page({ data: [{ ...anchor, size: 0.5 }] }), 'size.'],
    [page({ data: [{ ...anchor, size: 2 ** 53 }] }), 'size.'],
    [page({ data: [{ ...anchor, root: '0x12' }] }), 'root not 32 bytes of lower-case hex.'],
  ])('is refused where it is not: %j', (answer, wrong) => {
    expect(wrongIn(() => readAnchors(answer))).toStartWith(wrong)
  })
})

describe('the signers', () => {
  test('are read as the API says them, oldest first', () => {
    const { issuer, signers } = readSigners(rotatedSigner())
    expect([issuer, signers]).toEqual([
      facts.issuer,
      [
        { address: oldSigner.address, fromIndex: 0, untilIndex: 20, rotation: rotationOf() },
        {
          address: testSigner.address,
          fromIndex: 20,
          untilIndex: null,
          rotation: undefined,
        },
      ],
    ] as never)
    const lost = readSigners(rotatedSigner({ ...rotationOf(), signature: null })).signers[0]
    expect(lost?.rotation?.signature).toBeNull()
  })

  test('The signers are sorted from any order in which the service names them.', () => {
    const at = (from: number) => signerAnswer({ from_index: from })
    const orders = ['0 20 40', '20 0 40', '20 40 0', '40 20 0'].map((text) => text.split(' '))
    for (const order of orders) {
      const [last = 0, ...previous] = order.map(Number)
      const { signers } = readSigners({ ...at(last), previous: previous.map(at) })
      expect(signers.map(({ fromIndex }) => fromIndex)).toEqual([0, 20, 40])
    }
  })

  test('of before are at most a thousand', () => {
    const answer = (count: number) => signerAnswer({ previous: Array(count).fill(signerAnswer()) })
    expect(readSigners(answer(1000)).signers).toHaveLength(1001)
    expect(wrongIn(() => readSigners(answer(1001)))).toBe('issuer, previous.')
  })

  test.each<[answer: unknown, wrong: string]>([
    [5, 'the signer.'],
    [signerAnswer({ issuer: 5 }), 'issuer, previous.'],
    [signerAnswer({ previous: {} }), 'issuer, previous.'],
    [signerAnswer({ previous: [5] }), 'a signer.'],
    [signerAnswer({ address: 'me' }), 'address not an address.'],
    [signerAnswer({ from_index: null }), 'from_index.'],
    [signerAnswer({ until_index: '5' }), 'until_index.'],
    [signerAnswer({ rotation: 'yes' }), 'rotation.'],
    [rotatedSigner({ ...rotationOf(), issuer: 5 }), 'rotation.issuer not text.'],
    [rotatedSigner({ ...rotationOf(), next: 'me' }), 'rotation.next not an address.'],
    [rotatedSigner({ ...rotationOf(), fromIndex: '20' }), 'rotation.fromIndex.'],
    [rotatedSigner({ ...rotationOf(), signature: 5 }), 'rotation.signature not text.'],
  ])('are refused where they are not: %j', (answer, wrong) => {
    expect(wrongIn(() => readSigners(answer))).toStartWith(wrong)
  })
})

test('a checkpoint and a path are read whole or not at all', () => {
  const consistency = sampleLog(13).consistency(5)
  expect(readCheckpoint(checkpoint)).toEqual(checkpoint)
  expect(readConsistency({ consistency })).toEqual(consistency)
  const both = { ...checkpoint, size: 13, root: 5 }
  expect(wrongIn(() => readCheckpoint(both))).toBe(
    'checkpoint.size not text, checkpoint.root not text.',
  )
  expect(wrongIn(() => readConsistency({}))).toBe('consistency not an object.')
  expect(wrongIn(() => readConsistency(null))).toBe('the list of anchors.')
})
