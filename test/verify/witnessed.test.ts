import { describe, expect, test } from 'bun:test'
import { fromHex } from '../../src/kernel/hex.ts'
import { noteSigner } from '../../src/proof/signer/ed25519.ts'
import { judgeBy, type WitnessPolicy } from '../../src/verify/check-witnesses.ts'
import { toPagePayload, toTrust } from '../../src/verify/page-payload.ts'
import { shownChecks } from '../../src/verify/shown-checks.ts'
import { keyTypes, type NoteKey, noteKey, signatureLine } from '../../src/verify/signed-note.ts'
import { parseTlogProof } from '../../src/verify/tlog-proof.ts'
import type { Trust } from '../../src/verify/verify.ts'
import { promise } from '../support/promise.ts'
import { failed, judge, statusOf, trust } from './judge.ts'
import { provenFile } from './proof-samples.ts'
import { facts, fileOf, make } from './samples.ts'
import {
  logNoteKey,
  sampleWitnesses,
  tlogOf,
  witnessedFile,
  witnessedProof,
} from './witness-samples.ts'

const by = (quorum: number, more: Partial<WitnessPolicy> = {}): Trust => ({
  ...trust,
  witnesses: judgeBy({ witnesses: sampleWitnesses, quorum, ...more }),
})
const reasonOf = (verdict: ReturnType<typeof judge>) =>
  verdict.checks.find(({ name }) => name === 'witnessed')?.reason

describe('a receipt with a proof that witnesses signed', () => {
  test('rests on them by name and time, beside signature and log', () => {
    const verdict = judge(witnessedFile(), by(2))
    expect([verdict.valid, verdict.level]).toEqual([true, 'logged'])
    expect(verdict.evidence).toEqual(['signed', 'logged', 'witnessed'])
    const seen_at = '2026-09-21T14:13:22.000Z'
    expect(verdict.witnesses).toEqual([
      { name: 'W2', seen_at },
      { name: 'W3', seen_at },
    ])
    expect(reasonOf(verdict)).toBe('2 of 3 witnesses saw the log of 13 leaves: W2, W3.')
    expect(verdict.proves.join()).toContain('witnesses saw it in the log')
  })

  promise`H15 H: A receipt is valid by a policy only with the quorum of witnesses that it names.`
  test('is undecided below the quorum, and says how many there are', () => {
    const verdict = judge(witnessedFile(), by(3))
    expect([verdict.valid, failed(verdict), verdict.evidence]).toEqual([false, [], []])
    expect(verdict.witnesses).toEqual([])
    expect(statusOf(verdict, 'witnessed')).toBe('unavailable')
    expect(reasonOf(verdict)).toBe('2 of 3 witnesses saw the log of 13 leaves; 3 are required.')
  })

  test('names no witnesses to a reader who trusts none', () => {
    const verdict = judge(witnessedFile(), trust)
    expect([verdict.valid, statusOf(verdict, 'witnessed')]).toEqual([true, 'skip'])
    expect(verdict.evidence).toEqual(['signed', 'logged'])
  })

  test('may prove more than its checkpoint: a larger head that witnesses saw', () => {
    const verdict = judge(witnessedFile(tlogOf({ size: 21 }), 13), by(2))
    expect([verdict.valid, verdict.evidence.includes('witnessed')]).toEqual([true, true])
  })

  test('may require that the log signed the same head as a note', () => {
    expect(judge(witnessedFile(), by(2, { log: [logNoteKey] })).valid).toBe(true)
    const alone = tlogOf({
      lines: (text) => sampleWitnesses.slice(0, 2).map(({ line }) => line(text)),
    })
    expect(judge(witnessedFile(alone), by(2)).valid).toBe(true)
    const verdict = judge(witnessedFile(alone), by(2, { log: [logNoteKey] }))
    expect([verdict.valid, failed(verdict)]).toEqual([false, ['witnessed']])
  })

  test('holds after a rotation for a reader who knows the old key of the log beside the new', () => {
    const { publicKey } = noteSigner(new Uint8Array(32).fill(9))
    const next = noteKey(facts.issuer, keyTypes.ed25519, publicKey)
    const verdictBy = (...log: NoteKey[]) => judge(witnessedFile(), by(2, { log }))
    expect(verdictBy(next, logNoteKey).valid).toBe(true)
    expect(verdictBy(logNoteKey, next).evidence).toContain('witnessed')
    const late = verdictBy(next)
    expect(late.checks.find(({ name }) => name === 'witnessed')).toMatchObject({
      status: 'fail',
      reason: `The log itself did not sign its head, as ${facts.issuer}.`,
    })
  })

  test('shows a time that no calendar has as it was written', () => {
    const far = 2n ** 63n - 1n
    const tlog = tlogOf({ lines: (text) => sampleWitnesses.map(({ line }) => line(text, far)) })
    expect(judge(witnessedFile(tlog), by(2)).witnesses[0]?.seen_at).toBe(String(far))
    const last = tlogOf({
      lines: (text) => sampleWitnesses.map(({ line }) => line(text, 253_402_300_799n)),
    })
    expect(judge(witnessedFile(last), by(1)).witnesses[0]?.seen_at).toBe('9999-12-31T23:59:59.000Z')
    const beyond = tlogOf({
      lines: (text) => sampleWitnesses.map(({ line }) => line(text, 253_402_300_800n)),
    })
    expect(judge(witnessedFile(beyond), by(1)).witnesses[0]?.seen_at).toBe('253402300800')
  })

  const hash = new Uint8Array(32).fill(9)
  test.each([
    ['of another log', tlogOf({ origin: 'https://other.example' }), 'Expected a head of'],
    ['at another index', tlogOf({ index: 6 }), 'is not number 6'],
    ['with another root of the same size', tlogOf({ root: hash }), 'is not number 5'],
    ['with another path', tlogOf({ path: [hash] }), 'is not number 5'],
    ['of another form', 'c2sp.org/tlog-proof@v1\n', 'cannot be read'],
    [
      'with a broken line of a witness',
      tlogOf({
        lines: (text) => [
          signatureLine(sampleWitnesses[0]?.key ?? logNoteKey, new Uint8Array(72).fill(1)),
          ...sampleWitnesses.slice(1).map(({ line }) => line(text)),
        ],
      }),
      'The signature of w.example/2 does not hold.',
    ],
  ])('is not valid with a proof %s', (_, tlog, reason) => {
    const verdict = judge(witnessedFile(tlog), by(1))
    expect([verdict.valid, failed(verdict), verdict.witnesses]).toEqual([false, ['witnessed'], []])
    expect(reasonOf(verdict)).toContain(reason)
  })

  test('is not valid where the log shows witnesses another root of the same size', () => {
    // A log that holds the receipt at one place of two histories.
    const two = witnessedProof(tlogOf({ size: 13 }))
    const other = { ...two, checkpoint: { ...two.checkpoint, root: `0x${'11'.repeat(32)}` } }
    const outcome = by(1).witnesses?.(
      { issuer: two.checkpoint.issuer, digest: make().digest },
      other as typeof two,
    ).outcome
    expect(outcome?.reason).toBe('The log shows witnesses another root of its 13 leaves.')
    const larger = { ...other, size: '21' }
    expect(
      by(1).witnesses?.(
        { issuer: two.checkpoint.issuer, digest: make().digest },
        larger as typeof two,
      ).outcome.status,
    ).toBe('pass')
  })
})

describe('a receipt without such a proof', () => {
  test('is undecided for a reader who requires witnesses', () => {
    for (const file of [fileOf(), provenFile(13)]) {
      const verdict = judge(file, by(1))
      expect([verdict.valid, failed(verdict)]).toEqual([false, []])
      expect(statusOf(verdict, 'witnessed')).toBe('unavailable')
    }
  })

  test('is valid for a reader who only wants to be told', () => {
    const verdict = judge(provenFile(13), by(0))
    expect([verdict.valid, statusOf(verdict, 'witnessed')]).toEqual([true, 'skip'])
    const none = judge(witnessedFile(tlogOf({ by: 0 })), by(0))
    expect([none.valid, reasonOf(none)]).toEqual([
      true,
      '0 of 3 witnesses saw the log of 13 leaves.',
    ])
  })

  test('has version 1: the member of version 2 is refused there, and needed in 2', () => {
    const { tlog, ...rest } = witnessedProof()
    const one = judge({ ...fileOf(), proof: { ...rest, version: '1', tlog } })
    const two = judge({ ...fileOf(), proof: rest })
    const three = judge({ ...fileOf(), proof: { ...rest, tlog, version: '3' } })
    const extra = judge({ ...fileOf(), proof: { ...rest, tlog, more: 1 } })
    const wrong = [one, two, three, extra].map((verdict) => failed(verdict))
    expect(wrong).toEqual([['schema'], ['schema'], ['schema'], ['schema']])
  })
})

describe('what a page says of witnesses', () => {
  const shownOf = (file: ReturnType<typeof witnessedFile>, of: Trust) =>
    shownChecks({ verdict: judge(file, of), file, now: 0 }).filter(({ label }) =>
      /seen|witness/i.test(label),
    )

  test('names them, or says that too few signed', () => {
    expect(shownOf(witnessedFile(), by(0))).toMatchObject([
      { result: 'ok', label: 'Seen by 2 witnesses', detail: expect.stringContaining('W2, W3') },
    ])
    expect(shownOf(witnessedFile(tlogOf({ by: 1 })), by(0))[0]?.label).toBe('Seen by 1 witness')
    expect(shownOf(witnessedFile(), by(3))).toMatchObject([
      { result: 'wait', label: 'Not seen by witnesses yet' },
    ])
    expect(shownOf(provenFile(13) as ReturnType<typeof witnessedFile>, by(0))).toEqual([])
    expect(shownOf(witnessedFile(tlogOf({ by: 0 })), by(0))).toEqual([])
  })

  test('is what the service found, and says that the service checked it', () => {
    const file = witnessedFile()
    const verdict = by(0).witnesses?.(
      { issuer: file.receipt.issuer, digest: make().digest },
      file.proof,
    )
    const payload = JSON.parse(JSON.stringify(toPagePayload(file, trust, 7, verdict)))
    const { witnesses = by(0).witnesses } = toTrust(payload)
    const there = judge(file, { ...trust, ...(witnesses && { witnesses }) })
    expect(there.evidence).toEqual(['signed', 'logged', 'witnessed'])
    expect(there.witnesses).toEqual(judge(file, by(0)).witnesses)
    expect(reasonOf(there)).toEndWith('W2, W3. This service checked it.')
    expect(toTrust(toPagePayload(file, trust, 7)).witnesses).toBeUndefined()
  })
})

describe('a proof as a file', () => {
  const good = tlogOf()

  test('is read as it was written, an extra line left aside', () => {
    const read = parseTlogProof(good)
    expect([read?.index, read?.head.size]).toEqual([5n, 13n])
    const extra = good.replace('\nindex', '\nextra AAAA\nindex')
    expect(parseTlogProof(extra)).toEqual(read)
    expect(read?.path.map((hash) => hash.length)).toEqual(read?.path.map(() => 32))
  })

  test('of a log with one leaf has no path', () => {
    const [root = new Uint8Array()] = [fromHex(`0x${'07'.repeat(32)}`)]
    const read = parseTlogProof(tlogOf({ size: 6, path: [], root }))
    expect(read?.path).toEqual([])
  })

  const hashes = (count: number) => Array.from({ length: count }, () => new Uint8Array(32))
  test.each([
    ['another header', good.replace('@v1', '@v2')],
    ['no index', good.replace('index 5\n', '')],
    ['an index with a zero before it', good.replace('index 5', 'index 05')],
    ['a word before its index', good.replace('index 5', 'leaf 5')],
    ['a hash of another length', good.replace('index 5\n', 'index 5\nAAAA\n')],
    ['an extra line that is not base64', good.replace('\nindex', '\nextra ?\nindex')],
    ['an extra line behind its index', good.replace('index 5\n', 'index 5\nextra AAAA\n')],
    ['64 hashes', tlogOf({ path: hashes(64) })],
    ['no empty line', good.replaceAll('\n\n', '\n')],
    ['no checkpoint', good.slice(0, good.indexOf('\n\n') + 2)],
    ['a note of another form', good.replace('\n13\n', '\nx\n')],
  ])('A proof file is refused with %s.', (_, wrong) => {
    expect(parseTlogProof(wrong)).toBeUndefined()
  })

  test('has up to 63 hashes', () => {
    expect(parseTlogProof(tlogOf({ path: hashes(63) }))?.path.length).toBe(63)
  })
})
