import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { toHex } from '../../src/kernel/hex.ts'
import { noteSigner } from '../../src/proof/signer/ed25519.ts'
import { fromBase64, toBase64 } from '../../src/verify/base64.ts'
import { headText, parseHead } from '../../src/verify/checkpoint-note.ts'
import { levelsOf, tilePath, tilesOf } from '../../src/verify/log-tiles.ts'
import { leafHash } from '../../src/verify/merkle.ts'
import {
  cosignatureBytes,
  cosignedBytes,
  isKeyName,
  type KeyType,
  keyIdOf,
  keyTypes,
  type NoteKey,
  noteKey,
  noteOf,
  parseLines,
  parseNote,
  parseVkey,
  signatureLine,
  verifyNote,
  vkeyOf,
} from '../../src/verify/signed-note.ts'

const vectors = Bun.env['VECTORS_DIR']

type Vectors = {
  valid: { name: string; vkey: string; skey?: string; note: string }[]
  invalidKeys: string[]
  checkpointFormat: { origin: string; size: string; rootBase64: string; text: string }
  goTreeFormat: { text: string; leafDataUtf8: string }
  tiles: [
    { n: number; path: string },
    { size: number; fullL0: number; partialL0: number; fullL1: number; partialL1: number },
    { size: number; fullL0: number; partialL1: number },
  ]
}

const text = 'gw.example/log\n5\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'
const bytes = (words: string) => new TextEncoder().encode(words)
const log = noteSigner(new Uint8Array(32).fill(1))
const witness = noteSigner(new Uint8Array(32).fill(2))
const logKey = noteKey('gw.example/log', keyTypes.ed25519, log.publicKey)
const witnessKey = noteKey('w.example/1', keyTypes.cosignature, witness.publicKey)
const logLine = signatureLine(logKey, log.sign(bytes(text)))
const cosigned = (time: bigint) =>
  signatureLine(witnessKey, cosignatureBytes(time, witness.sign(cosignedBytes(text, time))))

describe.skipIf(!vectors)('the vectors of C2SP (VECTORS_DIR)', () => {
  const read = async (): Promise<Vectors> => Bun.file(join(vectors ?? '', 'c2sp/notes.json')).json()

  test('every note is verified by its key, and each key is written as it was read', async () => {
    for (const one of (await read()).valid) {
      const key = parseVkey(one.vkey)
      const note = parseNote(one.note)
      if (!key || !note) throw new Error(one.name)
      expect(vkeyOf(key)).toBe(one.vkey)
      const { signed, broken } = verifyNote(note, [key])
      expect([one.name, signed.map((s) => s.key.name), broken]).toEqual([one.name, [key.name], []])
    }
  })

  test('signing with the secret key of a vector gives its line', async () => {
    const withSecret = (await read()).valid.filter(({ skey }) => skey)
    expect(withSecret.length).toBe(1)
    for (const { skey = '', note, vkey } of withSecret) {
      const secret = skey.split('+').slice(4).join('+')
      const key = parseVkey(vkey)
      const parsed = parseNote(note)
      const decoded = fromBase64(secret)
      if (!key || !parsed || !decoded) throw new Error('unreadable')
      const signer = noteSigner(decoded.slice(1))
      expect(toHex(signer.publicKey)).toBe(toHex(key.publicKey))
      const line = signatureLine(key, signer.sign(bytes(parsed.text)))
      expect(note).toContain(`\n${line}`)
    }
  })

  test('a key of another type or with a wrong encoding is refused', async () => {
    for (const vkey of (await read()).invalidKeys) expect(parseVkey(vkey)).toBeUndefined()
  })

  test('checkpoints are written and read in their form, Go’s trees too', async () => {
    const { checkpointFormat: one, goTreeFormat: tree } = await read()
    const root = fromBase64(one.rootBase64)
    if (!root) throw new Error('unreadable')
    const head = { origin: one.origin, size: BigInt(one.size), root }
    expect(headText(head)).toBe(one.text)
    expect(parseHead(one.text)).toEqual(head)
    const read2 = parseHead(tree.text)
    // The leaf hash of RFC 6962: our kind byte stands where its data begins.
    const data = bytes(tree.leafDataUtf8)
    const kind = data[0] as Parameters<typeof leafHash>[0]
    expect(toHex(read2?.root ?? data)).toBe(toHex(leafHash(kind, data.slice(1))))
    expect([read2?.origin, read2?.size]).toEqual(['go.sum database tree', 123456789012n])
  })

  test('tiles have the paths and the widths of the standard', async () => {
    const [path, large, square] = (await read()).tiles
    expect(tilePath({ level: 3, index: path.n, width: 256 })).toBe(`tile/3/${path.path}`)
    const widths = (level: number, size: number) => [...tilesOf(level, size)].map((t) => t.width)
    const full = (of: number[]) => of.filter((width) => width === 256).length
    const partial = (of: number[]) => of.filter((width) => width < 256)
    const [l0, l1, l2] = [0, 1, 2].map((level) => widths(level, large.size)) as number[][]
    expect([full(l0 ?? []), partial(l0 ?? [])]).toEqual([large.fullL0, [large.partialL0]])
    expect([full(l1 ?? []), partial(l1 ?? [])]).toEqual([large.fullL1, [large.partialL1]])
    expect(l2).toEqual([1])
    expect(levelsOf(large.size)).toEqual([0, 1, 2])
    expect([widths(0, square.size), widths(1, square.size)]).toEqual([[256], [square.partialL1]])
  })
})

describe('a key of notes', () => {
  test('is written with its id and read again', () => {
    for (const key of [logKey, witnessKey]) {
      const read = parseVkey(vkeyOf(key))
      expect(read).toEqual(key)
    }
  })

  test('begins with the byte of its type in the standard', () => {
    const typeOf = (one: NoteKey) => fromBase64(vkeyOf(one).split('+')[2] ?? '')?.[0]
    expect([typeOf(logKey), typeOf(witnessKey)]).toEqual([1, 4])
  })

  test('has another id under another name or type', () => {
    const ids = [
      keyIdOf('a', keyTypes.ed25519, log.publicKey),
      keyIdOf('b', keyTypes.ed25519, log.publicKey),
      keyIdOf('a', keyTypes.cosignature, log.publicKey),
      keyIdOf('a', keyTypes.ed25519, witness.publicKey),
    ]
    expect(new Set(ids).size).toBe(4)
  })

  const vkey = vkeyOf(logKey)
  const [name = '', id = '', key = ''] = vkey.split('+')
  const flipped = id.startsWith('0') ? `1${id.slice(1)}` : `0${id.slice(1)}`
  test.each([
    ['nothing', ''],
    ['no name', `+${id}+${key}`],
    ['a name with a space', `a b+${id}+${key}`],
    ['another id', `${name}+${flipped}+${key}`],
    ['capital digits', `${name}+${id.toUpperCase()}x+${key}`],
    ['a short id', `${name}+${id.slice(1)}+${key}`],
    ['no key', `${name}+${id}+`],
    ['a short key', `${name}+${id}+${toBase64(new Uint8Array([1, 2, 3]))}`],
    ['text behind', `${vkey} `],
    ['a line behind', `${vkey}\n`],
    ['no padding', vkey.replace(/=+$/, '').slice(0, -1)],
  ])('A note key is refused with %s.', (_, wrong) => {
    expect(parseVkey(wrong)).toBeUndefined()
  })

  test('is refused with a type that no signature has, though its id is right', () => {
    const other = { ...noteKey(name, 0 as KeyType, log.publicKey) }
    expect(parseVkey(vkeyOf(other))).toBeUndefined()
  })

  test('takes only names that a line can hold', () => {
    expect(['a', 'https://gw.example#2', 'ö'].map(isKeyName)).toEqual([true, true, true])
    const wrong = ['', 'a b', 'a\u00a0b', 'a\u2003b', 'a+b', 'a\nb', 'a\tb', '\u0000', '\ud800']
    expect(wrong.map(isKeyName)).toEqual(wrong.map(() => false))
    expect(() => noteKey('a b', keyTypes.ed25519, log.publicKey)).toThrow('the name of a key')
  })
})

describe('a note', () => {
  const note = noteOf(text, [logLine, cosigned(7n)])

  test('is signed by its log and by its witness, who says when', () => {
    const parsed = parseNote(note)
    if (!parsed) throw new Error('unreadable')
    expect(parsed.text).toBe(text)
    const { signed, broken } = verifyNote(parsed, [logKey, witnessKey])
    expect(signed).toEqual([{ key: logKey }, { key: witnessKey, time: 7n }])
    expect(broken).toEqual([])
  })

  test('says nothing to a reader who knows none of its keys', () => {
    const parsed = parseNote(note)
    if (!parsed) throw new Error('unreadable')
    expect(verifyNote(parsed, [])).toEqual({ signed: [], broken: [] })
    const renamed = noteKey('other', keyTypes.ed25519, log.publicKey)
    expect(verifyNote(parsed, [renamed])).toEqual({ signed: [], broken: [] })
  })

  test('with a line of a known key that does not hold names the key as broken', () => {
    const forged = signatureLine(logKey, witness.sign(bytes(text)))
    const parsed = parseNote(noteOf(text, [forged, cosigned(7n)]))
    if (!parsed) throw new Error('unreadable')
    const { signed, broken } = verifyNote(parsed, [logKey, witnessKey])
    expect([signed.map(({ key }) => key.name), broken]).toEqual([['w.example/1'], [logKey]])
  })

  test('counts a key once that signed twice', () => {
    const parsed = parseNote(noteOf(text, [cosigned(7n), cosigned(9n)]))
    if (!parsed) throw new Error('unreadable')
    expect(verifyNote(parsed, [witnessKey]).signed.length).toBe(1)
  })

  test.each([
    ['a time of 0', cosigned(0n)],
    ['a time beyond 2^63', cosigned(2n ** 63n)],
    ['no time', signatureLine(witnessKey, witness.sign(cosignedBytes(text, 7n)))],
    ['a byte more', signatureLine(witnessKey, new Uint8Array(73))],
    ['less than a time', signatureLine(witnessKey, new Uint8Array(7))],
    ['a signature of the text alone', cosignedAs(7n, witness.sign(bytes(text)))],
    ['a signature of another time', cosignedAs(8n, witness.sign(cosignedBytes(text, 7n)))],
  ])('has no cosignature with %s', (_, line) => {
    const parsed = parseNote(noteOf(text, [line]))
    if (!parsed) throw new Error('unreadable')
    expect(verifyNote(parsed, [witnessKey])).toEqual({ signed: [], broken: [witnessKey] })
  })

  test('takes the largest time there is', () => {
    const parsed = parseNote(noteOf(text, [cosigned(2n ** 63n - 1n)]))
    if (!parsed) throw new Error('unreadable')
    expect(verifyNote(parsed, [witnessKey]).signed[0]?.time).toBe(2n ** 63n - 1n)
  })

  test('is none without an empty line before its signatures, and none without any', () => {
    for (const wrong of [`x${logLine}`, `${logLine}\n`, logLine, text]) {
      expect(parseNote(wrong)).toBeUndefined()
    }
  })

  test('has signatures of a byte or more', () => {
    const lineOf = (length: number) => signatureLine(logKey, new Uint8Array(length))
    expect(parseLines(lineOf(1))).toHaveLength(1)
    expect(parseLines(lineOf(0))).toBeUndefined()
  })

  test('has a text that ends at its last empty line', () => {
    const parsed = parseNote(`a\n\nb\n\n${logLine}`)
    expect(parsed?.text).toBe('a\n\nb\n')
  })

  const [dash = '', , base64 = ''] = logLine.trimEnd().split(' ')
  test.each([
    ['nothing', ''],
    ['no signature', `${text}\n`],
    ['no empty line', `${text}${logLine}`],
    ['a control character', `a\tb\n\n${logLine}`],
    ['a lone surrogate', `\ud800\n\n${logLine}`],
    ['no newline at its end', `${text}\n${logLine.trimEnd()}`],
    ['a line without a dash', `${text}\n${logLine.replace('—', '-')}`],
    ['a line without a name', `${text}\n${dash} ${base64}\n`],
    ['a line with a third word', `${text}\n${logLine.trimEnd()} x\n`],
    ['a name with a plus', `${text}\n${logLine.replace('gw', 'g+w')}`],
    ['base64 without its padding', `${text}\n${logLine.replace(/=+\n/, '\n')}`],
    ['an id and nothing else', `${text}\n— a AAAAAA==\n`],
    [
      'too many lines',
      noteOf(
        text,
        Array.from({ length: 33 }, () => logLine),
      ),
    ],
  ])('A text with %s is not a note.', (_, wrong) => {
    expect(parseNote(wrong)).toBeUndefined()
  })

  test('may have as many lines as a reader must take, and twice of it', () => {
    expect(
      parseNote(
        noteOf(
          text,
          Array.from({ length: 32 }, () => logLine),
        ),
      ),
    ).toBeDefined()
    expect(parseLines(`${logLine}${cosigned(7n)}`)?.length).toBe(2)
    expect(parseLines('')).toBeUndefined()
  })
})

function cosignedAs(time: bigint, signature: Uint8Array): string {
  return signatureLine(witnessKey, cosignatureBytes(time, signature))
}
