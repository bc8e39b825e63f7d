import { describe, expect, test } from 'bun:test'
import { fromHex } from '../../../src/kernel/hex.ts'
import { auditFiles } from '../../../src/proof/audit/audit.ts'
import type { Paper } from '../../../src/proof/audit/papers.ts'
import { ServiceTrouble } from '../../../src/proof/audit/service-view.ts'
import { headText } from '../../../src/verify/checkpoint-note.ts'
import { type LeafKind, leafKinds } from '../../../src/verify/merkle.ts'
import { receiptDigest } from '../../../src/verify/receipt.ts'
import { noteOf, signatureLine } from '../../../src/verify/signed-note.ts'
import { promise } from '../../support/promise.ts'
import { proofAt, sampleIndex, sampleLog } from '../../verify/proof-samples.ts'
import { fileFor, quote, receiptFor } from '../../verify/quote-samples.ts'
import { facts, fileOf, make, testSigner } from '../../verify/samples.ts'
import { filesOf, readIn } from '../../verify/tile-samples.ts'
import { logNoteKey, logSigner, sampleWitnesses } from '../../verify/witness-samples.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

type Wish = {
  size?: number
  origin?: string
  root?: Uint8Array
  /** How many witnesses sign it. */
  by?: number
  note?: (text: string) => string
  digests?: Record<number, Uint8Array>
  kinds?: Record<number, LeafKind>
}

/** The sample log as files, under a note that witnesses signed. */
function sampleFiles(wish: Wish = {}) {
  const { size = 40, origin = facts.issuer, by = 3, digests = {}, kinds = {} } = wish
  const leafAt = (i: number) => {
    const own = i === sampleIndex ? make().digest : new Uint8Array(32).fill(i)
    return { kind: kinds[i] ?? leafKinds.receipt, digest: digests[i] ?? own }
  }
  const { files, root } = filesOf(size, leafAt)
  const text = headText({ origin, size: BigInt(size), root: wish.root ?? root })
  const own = signatureLine(logNoteKey, logSigner.sign(utf8(text)))
  const lines = [own, ...sampleWitnesses.slice(0, by).map(({ line }) => line(text))]
  files.set('checkpoint', utf8(wish.note?.(text) ?? noteOf(text, lines)))
  return files
}

const paperOf = (name: string, value: unknown): Paper => ({ name, value, repeated: [] })
const receipt = (size = 13) => paperOf('a.json', { ...fileOf(), proof: proofAt(size) })
const witnesses = sampleWitnesses.map(({ name, key }) => ({ name, key }))
const known = {
  keys: [logNoteKey],
  witnesses: { witnesses, quorum: 2 },
  signers: [{ address: testSigner.address }],
  papers: [receipt()],
}

async function audit(files = sampleFiles(), more: Partial<Parameters<typeof auditFiles>[0]> = {}) {
  const report = await auditFiles({ ...known, read: readIn(files), ...more }, undefined)
  const find = (name: string) => report.checks.find((check) => check.name === name)
  return {
    report,
    wrong: report.checks.filter(({ status }) => status === 'fail').map(({ name }) => `${name}`),
    status: (name: string) => find(name)?.status,
    reason: (name: string) => find(name)?.reason ?? '',
  }
}

describe('the files of a log', () => {
  test('Leaves of every kind are read; evidence of upstreams is counted.', async () => {
    const kinds = Object.fromEntries(Object.values(leafKinds).map((kind, i) => [20 + i, kind]))
    const found = await audit(sampleFiles({ kinds: { ...kinds, 39: leafKinds.upstreamEvidence } }))
    expect([found.status('tiles'), found.reason('tiles')]).toEqual([
      'pass',
      '40 entries (2 of evidence of upstreams), and every hash above them up to the root of the ' +
        'checkpoint.',
    ])
    expect((await audit()).reason('tiles')).toStartWith('40 entries, and every hash above them up')
  })

  test('hold: note, cosignatures, tiles, known heads and receipts', async () => {
    const { report, status } = await audit()
    expect([report.holds, report.origin, report.size]).toEqual([true, facts.issuer, '40'])
    const passed = ['note', 'cosignatures', 'tiles', 'heads', 'receipts']
    expect(passed.map(status)).toEqual(passed.map(() => 'pass'))
    expect([status('chain_head'), status('quotes')]).toEqual(['skip', 'skip'])
  })

  test('hold for who names no witnesses and has no receipts; what was not asked is told', async () => {
    const { report, status } = await audit(sampleFiles({ by: 0 }), {
      witnesses: undefined as never,
      papers: [],
    })
    expect([report.holds, status('cosignatures'), status('receipts'), status('heads')]).toEqual([
      ...[true, 'skip', 'skip', 'skip'],
    ] as never)
  })

  test('of an empty log hold', async () => {
    const { report } = await audit(sampleFiles({ size: 0 }), { papers: [] })
    expect([report.holds, report.size]).toEqual([true, '0'])
  })

  test('are undecided below the quorum, and where no key of the log is known', async () => {
    const few = await audit(sampleFiles({ by: 1 }))
    expect([few.report.holds, few.status('cosignatures')]).toEqual([false, 'unavailable'])
    const unknown = await audit(undefined, { keys: [] })
    expect([unknown.status('note'), unknown.reason('note')]).toEqual([
      'unavailable',
      expect.stringContaining('--log-key'),
    ])
  })

  test('may be signed by an old key of the log that a policy names beside the new one', async () => {
    const other = { ...logNoteKey, id: 1 }
    const policy = { witnesses, quorum: 2, log: [other, logNoteKey] }
    expect((await audit(undefined, { keys: [], witnesses: policy })).status('note')).toBe('pass')
    const late = await audit(undefined, { witnesses: { ...policy, log: [other] } })
    expect([late.wrong, late.reason('note')]).toEqual([
      ['note'],
      expect.stringContaining('no known key of https://gw.example signed it'),
    ])
  })

  promise`H17 H: A receipt that the log does not have at its place is found, and so is a second
    history.`
  test.each<[what: string, wish: Wish, names: string[], reason: string]>([
    ['another root', { root: new Uint8Array(32).fill(1) }, ['tiles'], 'their root is 0x'],
    ['another leaf under the same proofs', { digests: { 3: new Uint8Array(32) } }, ['heads'], ''],
    [
      'another receipt in the place of ours',
      { digests: { [sampleIndex]: new Uint8Array(32) } },
      ['heads', 'receipts'],
      'has another root at 13 leaves than the proof in a.json',
    ],
    ['no note', { note: () => 'hello\n' }, ['note'], 'it is not a signed note'],
    [
      'a note of something else',
      { note: (text) => `x${text}` },
      ['note'],
      'it is not a signed note',
    ],
    ['the log of another', { origin: 'https://evil.example' }, ['note'], 'it is of https://evil'],
  ])('that show %s are found out', async (_, wish, names, reason) => {
    const { report, wrong } = await audit(sampleFiles(wish), { origin: facts.issuer })
    expect([report.holds, wrong]).toEqual([false, names])
    expect(report.checks.map((check) => check.reason).join('\n')).toContain(
      reason.replace('has another', 'have another'),
    )
  })

  test.each(['own', 'witness'])(
    'with a broken signature of a known key fail: %s',
    async (whose) => {
      const files = sampleFiles()
      const note = new TextDecoder().decode(files.get('checkpoint'))
      const at = whose === 'own' ? logNoteKey.name : witnesses[0]?.key.name
      const line = note.split('\n').find((one) => one.startsWith(`— ${at} `)) ?? ''
      const broken = line.replace(/.{4}$/, line.endsWith('AAA=') ? 'BAA=' : 'AAA=')
      files.set('checkpoint', utf8(note.replace(line, broken)))
      const { wrong } = await audit(files)
      expect(wrong).toEqual([whose === 'own' ? 'note' : 'cosignatures'])
    },
  )

  promise`H16`
  test('name the file and the place of what is wrong, and say what to do', async () => {
    const files = sampleFiles()
    const path = 'tile/0/000.p/40'
    const bytes = Uint8Array.from(files.get(path) ?? [])
    bytes[3 * 32] = (bytes[3 * 32] ?? 0) ^ 1
    const changed = await audit(new Map([...files, [path, bytes]]))
    expect([changed.wrong, changed.reason('tiles')]).toEqual([
      ['tiles'],
      `${path}: hash 3, of leaf 3, is not that of entry 3 in tile/entries/000.p/40. ` +
        'Get it again; if it stays like this, keep it with the checkpoint as evidence.',
    ])
    files.delete(path)
    const gone = await audit(files)
    expect([gone.wrong, gone.reason('tiles')]).toEqual([
      ['tiles'],
      expect.stringContaining(`${path}: it is not there.`),
    ])
    expect(gone.status('receipts')).toBe('skip')
  })

  test('that cannot be reached are undecided, and nothing is called wrong', async () => {
    const files = sampleFiles()
    const down = async (path: string) => {
      if (path !== 'checkpoint') throw new ServiceTrouble(`GET ${path} returned status 503.`)
      return files.get(path)
    }
    const { report, wrong, status } = await audit(files, { read: down })
    expect([report.holds, wrong, status('tiles')]).toEqual([false, [], 'unavailable'])
    const none = await audit(files, { read: async () => undefined })
    expect([none.wrong, none.status('tiles')]).toEqual([['note'], 'skip'])
  })
})

describe('a receipt of the auditor', () => {
  test('that was changed fails by the name of its check', async () => {
    const forged = { ...fileOf(), proof: proofAt(13), signature: `0x${'11'.repeat(65)}` }
    const { wrong, reason } = await audit(undefined, { papers: [paperOf('b.json', forged)] })
    expect([wrong, reason('receipts')]).toEqual([
      ['receipts'],
      expect.stringContaining('b.json: signature:'),
    ])
  })

  test('that the tiles do not have yet, or without a proof, is undecided', async () => {
    const small = sampleFiles({ size: 4 })
    const early = await audit(small)
    expect([early.wrong, early.status('receipts'), early.status('heads')]).toEqual([
      ...[[], 'unavailable', 'unavailable'],
    ] as never)
    expect(early.reason('receipts')).toContain('its index is 5')
    const bare = await audit(small, { papers: [paperOf('a.json', fileOf())] })
    expect(bare.reason('receipts')).toContain('it has no proof')
    const there = await audit(undefined, { papers: [paperOf('a.json', fileOf())] })
    expect(there.status('receipts')).toBe('pass')
  })

  test('of another log, or signed by no trusted key, is undecided', async () => {
    const elsewhere = sampleFiles({ origin: 'https://other.example' })
    const key = { ...logNoteKey, name: 'https://other.example' }
    const { status, reason } = await audit(elsewhere, { keys: [key] })
    expect([status('receipts'), reason('receipts')]).toEqual([
      'unavailable',
      expect.stringContaining('it is in the log of https://gw.example'),
    ])
    const untrusted = await audit(undefined, { signers: undefined as never })
    expect([untrusted.report.holds, untrusted.status('receipts')]).toEqual([false, 'unavailable'])
  })
})

describe('a quote that a receipt names', () => {
  const dear = { ...quote, rates: quote.rates.map((rate) => ({ ...rate, price: '1' })) }
  const auditWith = (of: typeof quote, ...papers: Paper[]) => {
    const file = receiptFor(of)
    const digests = { 7: receiptDigest(file.receipt) }
    return audit(sampleFiles({ digests }), { papers: [paperOf('r.json', file), ...papers] })
  }

  test('A quote that the receipt names was kept.', async () => {
    const { report, status } = await auditWith(quote, paperOf('q.json', fileFor(quote)))
    expect([report.holds, status('receipts'), status('quotes')]).toEqual([true, 'pass', 'pass'])
  })

  promise`H17`
  test('was broken: that is found, and both files are named', async () => {
    const { wrong, reason } = await auditWith(dear, paperOf('q.json', fileFor(dear)))
    expect([wrong, reason('quotes')]).toEqual([
      ['quotes'],
      expect.stringContaining('r.json and q.json: Expected at most'),
    ])
  })

  test('is missing, or only another is there: undecided, with what to save', async () => {
    for (const papers of [[], [paperOf('q.json', fileFor(dear))]]) {
      const { wrong, status, reason } = await auditWith(quote, ...papers)
      expect([wrong, status('receipts'), status('quotes')]).toEqual([[], 'pass', 'unavailable'])
      expect(reason('quotes')).toContain('GET /v1/quotes/<id>')
    }
  })

  test('is not one where its file says something twice', async () => {
    const twice = { ...paperOf('q.json', fileFor(quote)), repeated: [{ path: 'x', message: 'y' }] }
    expect((await auditWith(quote, twice)).status('quotes')).toBe('unavailable')
  })
})

test('the sample files are those of the sample log', () => {
  const note = new TextDecoder().decode(sampleFiles().get('checkpoint'))
  const root = Buffer.from(fromHex(sampleLog(40).checkpoint().root)).toString('base64')
  expect(note).toContain(root)
})
