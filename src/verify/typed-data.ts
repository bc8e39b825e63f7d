import { keccak256 } from './keccak.ts'

/** The members of EIP-712 structs by name, in order. */
export type Structs = Readonly<Record<string, readonly (readonly [type: string, name: string])[]>>

/**
 * What a member may hold: text; an integer as bigint, safe number or decimal text; bytes or hex;
 * a list; a struct, or `{ $hash }` with a hidden struct's 32 bytes in its place.
 */
export type Value =
  | string
  | number
  | bigint
  | Uint8Array
  | readonly Value[]
  | { readonly [member: string]: Value }

export type StructHasher<Name extends string> = {
  /** `Mail(Person from,…)Person(…)`: the struct, then those it uses, by name. */
  encodeType(name: Name): string
  /** @throws when a member does not fit its type: a range, an address, a lone surrogate. */
  hash(name: Name, value: Value): Uint8Array
}

/** Writes one member's 32 bytes. */
type Write = (value: Value, out: Uint8Array, at: number) => void

/** `hashStruct` of EIP-712 for a fixed table of structs, none of which contains itself. */
export function makeStructHasher<T extends Structs>(structs: T): StructHasher<keyof T & string> {
  const hashes = new Map<string, (value: Value) => Uint8Array>()
  const encodeType = (name: string) =>
    [name, ...[...namesUsedBy(structs, name)].sort()]
      .map(
        (used) =>
          `${used}(${membersOf(structs, used)
            .map((m) => m.join(' '))
            .join(',')})`,
      )
      .join('')
  const hash = (name: string, value: Value): Uint8Array => {
    const known = hashes.get(name)
    if (known) return known(value)
    const made = compile(membersOf(structs, name), keccak256(encode(encodeType(name))), hash)
    hashes.set(name, made)
    return made(value)
  }
  return { encodeType, hash }
}

/** keccak256(0x1901 || domain separator || struct hash): what is signed. */
export function typedDigest(domainSeparator: Uint8Array, structHash: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(66)
  bytes[0] = 0x19
  bytes[1] = 0x01
  bytes.set(domainSeparator, 2)
  bytes.set(structHash, 34)
  return keccak256(bytes)
}

function compile(
  members: Structs[string],
  typeHash: Uint8Array,
  hash: (name: string, value: Value) => Uint8Array,
): (value: Value) => Uint8Array {
  const writes = members.map(([type]) => writerOf(type, hash))
  const names = members.map(([, name]) => name)
  // One buffer a struct, used again: no struct contains itself, and every writer fills its slot.
  const out = new Uint8Array(32 * (members.length + 1))
  out.set(typeHash)
  return (value) => {
    const struct = asStruct(value)
    for (const [i, name] of names.entries()) {
      const member = struct[name]
      if (member === undefined) throw new TypeError(`${name} is missing`)
      writes[i]?.(member, out, 32 * (i + 1))
    }
    return keccak256(out)
  }
}

function writerOf(type: string, hash: (name: string, value: Value) => Uint8Array): Write {
  if (type === 'string') return (value, out, at) => out.set(hashText(value), at)
  if (type === 'address') return (value, out, at) => writeBytes(value, 20, out, at + 12)
  if (type === 'bytes32') return (value, out, at) => writeBytes(value, 32, out, at)
  if (type === 'uint64') return (value, out, at) => writeUint(value, 64, out, at)
  if (type === 'uint256') return (value, out, at) => writeUint(value, 256, out, at)
  if (type.endsWith('[]')) {
    const element = writerOf(type.slice(0, -2), hash)
    return (value, out, at) => {
      if (!Array.isArray(value)) throw new TypeError('not a list')
      const encoded = new Uint8Array(32 * value.length)
      for (const [i, item] of value.entries()) element(item, encoded, 32 * i)
      out.set(keccak256(encoded), at)
    }
  }
  return (value, out, at) => {
    const hidden = asStruct(value)['$hash']
    if (hidden === undefined) out.set(hash(type, value), at)
    else writeBytes(hidden, 32, out, at)
  }
}

const encoder = new TextEncoder()
const encode = (text: string) => encoder.encode(text)

/** Model names, outcomes, meters come again and again: their hashes are kept, up to a limit. */
const textHashes = new Map<string, Uint8Array>()

function hashText(value: Value): Uint8Array {
  if (typeof value !== 'string') throw new TypeError('not text')
  const known = textHashes.get(value)
  if (known) return known
  if (!value.isWellFormed()) throw new TypeError('text with a lone surrogate')
  const hash = keccak256(encode(value))
  if (textHashes.size >= 1024) textHashes.clear()
  if (value.length <= 128) textHashes.set(value, hash)
  return hash
}

/** Writes so many bytes, given as such or as hex. @throws when they are others. */
export function writeBytes(value: Value, count: number, out: Uint8Array, at: number): void {
  if (value instanceof Uint8Array) {
    if (value.length !== count) throw new TypeError(`not ${count} bytes`)
    out.set(value, at)
    return
  }
  if (typeof value !== 'string' || value.length !== 2 + 2 * count || !value.startsWith('0x')) {
    throw new TypeError(`not ${count} bytes of hex`)
  }
  for (let i = 0; i < count; i++) {
    const byte = (nibble(value.charCodeAt(2 + 2 * i)) << 4) | nibble(value.charCodeAt(3 + 2 * i))
    out[at + i] = byte
  }
}

function nibble(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  if (code >= 97 && code <= 102) return code - 87
  if (code >= 65 && code <= 70) return code - 55
  throw new TypeError('not hex')
}

function writeUint(value: Value, bits: 64 | 256, out: Uint8Array, at: number): void {
  const small = toSmallInteger(value)
  if (small !== undefined) {
    out.fill(0, at, at + 24)
    write32(Math.floor(small / 0x1_0000_0000), out, at + 24)
    write32(small >>> 0, out, at + 28)
    return
  }
  let rest = toBigInteger(value)
  if (rest < 0n || rest >= 1n << BigInt(bits)) throw new RangeError(`not a uint${bits}`)
  for (let i = 31; i >= 0; i--) {
    out[at + i] = Number(rest & 255n)
    rest >>= 8n
  }
}

/** The usual case, without arithmetic on bigints: a safe number, or at most 15 digits. */
function toSmallInteger(value: Value): number | undefined {
  if (typeof value === 'bigint') {
    return value >= 0n && value <= largestSafe ? Number(value) : undefined
  }
  if (typeof value === 'string') return value.length <= 15 ? Number(digits(value)) : undefined
  if (typeof value !== 'number') return undefined
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a whole number')
  return value
}

const largestSafe = BigInt(Number.MAX_SAFE_INTEGER)

function toBigInteger(value: Value): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string') return BigInt(digits(value))
  throw new TypeError('not an integer')
}

function digits(text: string): string {
  if (!/^(?:0|[1-9][0-9]{0,77})$/.test(text)) throw new TypeError('not a decimal integer')
  return text
}

function write32(value: number, out: Uint8Array, at: number): void {
  out[at] = value >>> 24
  out[at + 1] = value >>> 16
  out[at + 2] = value >>> 8
  out[at + 3] = value
}

function asStruct(value: Value): { readonly [member: string]: Value } {
  if (typeof value !== 'object' || value instanceof Uint8Array || Array.isArray(value)) {
    throw new TypeError('not a struct')
  }
  return value as { readonly [member: string]: Value }
}

function membersOf(structs: Structs, name: string): Structs[string] {
  const members = structs[name]
  if (!members) throw new TypeError(`no struct ${name}`)
  return members
}

function namesUsedBy(structs: Structs, name: string, found = new Set<string>()): Set<string> {
  for (const [type] of membersOf(structs, name)) {
    const used = type.replace('[]', '')
    if (!(used in structs) || found.has(used)) continue
    found.add(used)
    namesUsedBy(structs, used, found)
  }
  return found
}
