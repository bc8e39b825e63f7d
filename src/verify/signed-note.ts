/** Signed notes (c2sp.org/signed-note): texts with the signature lines of named keys. */
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { fromBase64, toBase64 } from './base64.ts'
import { verifyEd25519 } from './ed25519.ts'

/** The signed bytes: the text of a note, or with a time (c2sp.org/tlog-cosignature). */
export const keyTypes = { ed25519: 0x01, cosignature: 0x04 } as const

export type KeyType = (typeof keyTypes)[keyof typeof keyTypes]

/** A key that may sign a note. */
export type NoteKey = { name: string; id: number; type: KeyType; publicKey: Uint8Array }

/** A line below a note: whose it says it is, and the bytes after the id of the key. */
export type SignatureLine = { name: string; id: number; bytes: Uint8Array }

/** A note taken apart; `text` ends in a newline. */
export type Note = { text: string; lines: SignatureLine[] }

/** A signature that holds. */
export type NoteSignature = {
  key: NoteKey
  /** Seconds since 1970 as the signer of a cosignature wrote them. */
  time?: bigint
}

/** The most lines that are read, twice of what every reader must take. */
const maxLines = 32

/** Whether a text can be the name of a key: no spaces, no plus, no control characters. */
export const isKeyName = (name: string): boolean =>
  name.length > 0 && name.isWellFormed() && !/[\p{White_Space}\p{Cc}+]/u.test(name)

/** The first four bytes of SHA-256(name, newline, type, key), as an unsigned integer. */
export function keyIdOf(name: string, type: KeyType, publicKey: Uint8Array): number {
  const hash = sha256(concatBytes(utf8ToBytes(`${name}\n`), new Uint8Array([type]), publicKey))
  return new DataView(hash.buffer, hash.byteOffset).getUint32(0)
}

/** A key under a name. @throws RangeError for a name that no note can hold. */
export function noteKey(name: string, type: KeyType, publicKey: Uint8Array): NoteKey {
  if (!isKeyName(name)) throw new RangeError('the name of a key holds no space, plus or control')
  return { name, id: keyIdOf(name, type, publicKey), type, publicKey }
}

/** `name+id+base64`, as other programs take a key. */
export const vkeyOf = ({ name, id, type, publicKey }: NoteKey): string =>
  `${name}+${idText(id)}+${toBase64(concatBytes(new Uint8Array([type]), publicKey))}`

const idText = (id: number): string => id.toString(16).padStart(8, '0')

/** Reads a key as {@link vkeyOf} writes it; undefined unless it is an Ed25519 key with its id. */
export function parseVkey(vkey: string): NoteKey | undefined {
  const [, name = '', id = '', key = ''] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(vkey) ?? []
  const bytes = fromBase64(key)
  if (!isKeyName(name) || bytes?.length !== 33) return undefined
  const type = Object.values(keyTypes).find((known) => known === bytes[0])
  if (type === undefined) return undefined
  const found = noteKey(name, type, bytes.slice(1))
  return idText(found.id) === id ? found : undefined
}

/** Takes a note apart; undefined if it is none. The text ends at the last empty line. */
export function parseNote(note: string): Note | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a note may hold none but newlines.
  if (!note.isWellFormed() || /[\x00-\x09\x0b-\x1f]/.test(note)) return undefined
  const end = note.lastIndexOf('\n\n')
  if (end === -1 || !note.endsWith('\n')) return undefined
  const lines = parseLines(note.slice(end + 2))
  return lines && { text: note.slice(0, end + 1), lines }
}

/** Reads signature lines, each with its newline; undefined if one is malformed or none there. */
export function parseLines(text: string): SignatureLine[] | undefined {
  const rows = text.split('\n')
  if (rows.pop() !== '' || rows.length === 0 || rows.length > maxLines) return undefined
  const lines = rows.flatMap((row) => parseLine(row) ?? [])
  return lines.length === rows.length ? lines : undefined
}

function parseLine(row: string): SignatureLine | undefined {
  const [, name = '', base64 = ''] = /^— ([^ ]+) ([^ ]+)$/.exec(row) ?? []
  const bytes = fromBase64(base64)
  if (!isKeyName(name) || !bytes || bytes.length < 5) return undefined
  return { name, id: new DataView(bytes.buffer).getUint32(0), bytes: bytes.slice(4) }
}

/** The line of a signature, with its newline. */
export function signatureLine({ name, id }: Pick<NoteKey, 'name' | 'id'>, bytes: Uint8Array) {
  return `— ${name} ${toBase64(concatBytes(hexToBytes(idText(id)), bytes))}\n`
}

/** A note under its signature lines, each with its newline. */
export const noteOf = (text: string, lines: readonly string[]): string =>
  `${text}\n${lines.join('')}`

/** The bytes a witness signs: a time in seconds, and the text of a checkpoint. */
export const cosignedBytes = (text: string, time: bigint): Uint8Array =>
  utf8ToBytes(`cosignature/v1\ntime ${time}\n${text}`)

/** The bytes of a cosignature: the time in eight bytes, then the signature. */
export function cosignatureBytes(time: bigint, signature: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(8 + signature.length)
  new DataView(bytes.buffer).setBigUint64(0, time)
  bytes.set(signature, 8)
  return bytes
}

/** Whether a line is of a key, by name and id: its signature must then hold. */
export const isLineOf = (line: SignatureLine, key: NoteKey): boolean =>
  line.name === key.name && line.id === key.id

/** Checks a line of a key over a text; undefined if its signature does not hold. */
export function verifyLine(
  text: string,
  { bytes }: SignatureLine,
  key: NoteKey,
): NoteSignature | undefined {
  if (key.type === keyTypes.ed25519) {
    return verifyEd25519(bytes, utf8ToBytes(text), key.publicKey) ? { key } : undefined
  }
  if (bytes.length !== 72) return undefined
  const time = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
  if (time === 0n || time >= 2n ** 63n) return undefined
  const holds = verifyEd25519(bytes.subarray(8), cosignedBytes(text, time), key.publicKey)
  return holds ? { key, time } : undefined
}

/** The verdict of known keys on a note. */
export type NoteVerdict = { signed: NoteSignature[]; broken: NoteKey[] }

/**
 * Checks every line of a known key and ignores the others. A note with a `broken` line is to be
 * refused whole; one with none `signed` says nothing. A key counts once, however often it signed.
 */
export function verifyNote({ text, lines }: Note, keys: readonly NoteKey[]): NoteVerdict {
  const signed = new Map<NoteKey, NoteSignature>()
  const broken = new Set<NoteKey>()
  for (const line of lines) {
    for (const key of keys.filter((known) => isLineOf(line, known))) {
      const found = verifyLine(text, line, key)
      if (found) signed.set(key, found)
      else broken.add(key)
    }
  }
  return { signed: [...signed.values()], broken: [...broken] }
}
