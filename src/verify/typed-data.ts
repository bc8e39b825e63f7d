/** Computes EIP-712 digests for fixed tables of structs. */
import {
  blockBytes,
  type KeccakMemory,
  keccak256,
  keccakMemory,
  keccakMemoryBytes,
} from './keccak.ts'
import { type Value, writeBytes, writeUint, writeUint64 } from './typed-values.ts'

/** The members of EIP-712 structs by name, in order. */
export type Structs = Readonly<Record<string, readonly (readonly [type: string, name: string])[]>>

export type StructHasher<Name extends string> = {
  /** `Mail(Person from,…)Person(…)`: the struct, then those it uses, by name. */
  encodeType(name: Name): string
  /** @throws when a member does not fit its type: a range, an address, a lone surrogate. */
  hash(name: Name, value: Value): Uint8Array
}

/** Writes the 32 bytes of a value at an offset of the memory. */
type Write = (value: Value, at: number) => void

/** `hashStruct` of EIP-712 for a fixed table of structs, none of which contains itself. */
export function makeStructHasher<T extends Structs>(structs: T): StructHasher<keyof T & string> {
  const encodeType = (name: string) =>
    [name, ...[...namesUsedBy(structs, name)].sort()]
      .map(
        (used) =>
          `${used}(${membersIn(structs, used)
            .map((m) => m.join(' '))
            .join(',')})`,
      )
      .join('')
  let made: { by: () => KeccakMemory; hash: StructHasher<string>['hash'] } | undefined
  return {
    encodeType,
    hash(name, value) {
      const by = keccakMemory()
      if (made?.by !== by) made = { by, hash: layOut(structs, encodeType, by()) }
      return made.hash(name, value)
    },
  }
}

/** keccak256(0x1901 || domain separator || struct hash): what is signed. */
export function typedDigest(domainSeparator: Uint8Array, structHash: Uint8Array): Uint8Array {
  signed.set(domainSeparator, 2)
  signed.set(structHash, 34)
  return keccak256(signed)
}

const signed = new Uint8Array(66)
signed.set([0x19, 0x01])

// After the structs come the hashes of known texts, then room for the text at hand.
const textsAt = 20_480
const mostTexts = 1024
const scratchAt = textsAt + 32 * (mostTexts + 1)
/** Items that a list has room for. */
const mostItems = 128

/**
 * Gives each struct a place in the memory, its type hash and the zeros before its integers written
 * once. Every hash goes to where the struct above wants it, so nothing is allocated or copied.
 */
function layOut(
  structs: Structs,
  encodeType: (name: string) => string,
  { bytes, hash }: KeccakMemory,
): StructHasher<string>['hash'] {
  const writers = new Map<string, Write>()
  const writeText = textWriter({ bytes, hash })
  // The first 32 bytes are for a result.
  let free = 32
  const reserve = (length: number) => {
    const at = free
    free += length + blockBytes
    if (free > textsAt) throw new Error('no room for this struct')
    return at
  }

  function writerOf(type: string): Write {
    if (type === 'string') return writeText
    if (type === 'address') return (value, at) => writeBytes(value, 20, bytes, at + 12)
    if (type === 'bytes32') return (value, at) => writeBytes(value, 32, bytes, at)
    if (type === 'uint64') return (value, at) => writeUint64(value, bytes, at)
    if (type === 'uint256') return (value, at) => writeUint(value, 256, bytes, at)
    if (type.endsWith('[]')) return listWriter(writerOf(type.slice(0, -2)))
    const write = structWriter(type)
    return (value, at) => {
      const hidden = asStruct(value)['$hash']
      if (hidden === undefined) write(value, at)
      else writeBytes(hidden, 32, bytes, at)
    }
  }

  function listWriter(element: Write): Write {
    const list = reserve(32 * mostItems)
    return (value, at) => {
      if (!Array.isArray(value)) throw new TypeError('not a list')
      if (value.length > mostItems) throw new RangeError(`more than ${mostItems} items`)
      // The padding of a shorter list before it may lie there.
      bytes.fill(0, list, list + 32 * value.length)
      for (let i = 0; i < value.length; i++) element(value[i], list + 32 * i)
      hash(list, 32 * value.length, at)
    }
  }

  function structWriter(name: string): Write {
    const known = writers.get(name)
    if (known) return known
    const members = membersIn(structs, name)
    const length = 32 * (members.length + 1)
    const place = reserve(length)
    bytes.set(keccak256(encoder.encode(encodeType(name))), place)
    const writes = members.map(([type, member], i) => {
      const write = writerOf(type)
      const at = place + 32 * (i + 1)
      return (struct: { readonly [member: string]: Value }) => {
        const value = struct[member]
        if (value === undefined) throw new TypeError(`${member} is missing`)
        write(value, at)
      }
    })
    const writer: Write = (value, at) => {
      const struct = asStruct(value)
      for (const write of writes) write(struct)
      hash(place, length, at)
    }
    writers.set(name, writer)
    return writer
  }

  return (name, value) => {
    structWriter(name)(value, 0)
    return bytes.slice(0, 32)
  }
}

const encoder = new TextEncoder()

/** Writes the hash of a text. Model names, outcomes, meters come again and again: they are kept. */
function textWriter({ bytes, hash }: KeccakMemory): Write {
  const known = new Map<string, number>()
  const scratch = bytes.subarray(scratchAt)
  const hashText = (text: string, at: number) => {
    if (!text.isWellFormed()) throw new TypeError('text with a lone surrogate')
    // No UTF-16 unit takes more than three bytes of UTF-8.
    if (text.length * 3 > keccakMemoryBytes - scratchAt - blockBytes) {
      bytes.set(keccak256(encoder.encode(text)), at)
    } else hash(scratchAt, encoder.encodeInto(text, scratch).written, at)
  }
  return (value, at) => {
    if (typeof value !== 'string') throw new TypeError('not text')
    if (value.length > 128) {
      hashText(value, at)
      return
    }
    let from = known.get(value)
    if (from === undefined) {
      if (known.size >= mostTexts) known.clear()
      from = textsAt + 32 * known.size
      hashText(value, from)
      known.set(value, from)
    }
    bytes.copyWithin(at, from, from + 32)
  }
}

function asStruct(value: Value): { readonly [member: string]: Value } {
  if (typeof value !== 'object' || value instanceof Uint8Array || Array.isArray(value)) {
    throw new TypeError('not a struct')
  }
  return value as { readonly [member: string]: Value }
}

/** @throws for an unknown name */
export function membersIn(structs: Structs, name: string): Structs[string] {
  const members = structs[name]
  if (!members) throw new TypeError(`no struct ${name}`)
  return members
}

function namesUsedBy(structs: Structs, name: string, found = new Set<string>()): Set<string> {
  for (const [type] of membersIn(structs, name)) {
    const used = type.replace('[]', '')
    if (!(used in structs) || found.has(used)) continue
    found.add(used)
    namesUsedBy(structs, used, found)
  }
  return found
}
