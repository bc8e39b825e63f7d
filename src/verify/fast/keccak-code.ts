/** Assembles the WebAssembly module that computes Keccak-256. */
import { blockBytes, keccakMemoryBytes } from '../keccak.ts'

/**
 * WebAssembly that computes Keccak-256 in its own memory, as the bytes of a module. It exports
 * `memory` and `hash(at, blocks, out)`: absorbs `blocks` padded blocks of 136 bytes that begin at
 * `at`, then writes the 32 bytes of the hash to `out`. Nothing is imported.
 */
export function keccakModule(): Uint8Array<ArrayBuffer> {
  const i32 = 0x7f
  const i64 = 0x7e
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [[0x60, 3, i32, i32, i32, 0]]),
    ...section(3, [[0]]),
    ...section(5, [[0x01, pages, pages]]),
    ...section(7, [
      [...nameOf('memory'), 0x02, 0],
      [...nameOf('hash'), 0x00, 0],
    ]),
    ...section(10, [sized([2, ...unsigned(laneCount), i64, 1, i32, ...hashBody(), op.end])]),
    ...section(11, [
      [0, op.const32, ...signed(BigInt(constantsAt)), op.end, ...sized(constants())],
    ]),
  ])
}

/** The constants of iota lie behind the memory for messages, in a page of their own. */
const constantsAt = keccakMemoryBytes
const pages = constantsAt / 65_536 + 1

const op = {
  loop: 0x03,
  end: 0x0b,
  branchIf: 0x0d,
  get: 0x20,
  set: 0x21,
  tee: 0x22,
  load64: 0x29,
  store64: 0x37,
  const32: 0x41,
  const64: 0x42,
  differ32: 0x47,
  add32: 0x6a,
  sub32: 0x6b,
  and: 0x83,
  or: 0x84,
  xor: 0x85,
  rotl: 0x89,
}

// Locals: the three parameters, the state twice (a round reads one and writes the other), the
// columns' parities, what theta adds to each column, the row that chi works on, and where the
// constant of the next round lies.
const at = 0
const blocks = 1
const out = 2
const lane = (half: number, i: number) => 3 + 25 * (half & 1) + i
const parity = (x: number) => 53 + (x % 5)
const added = (x: number) => 58 + (x % 5)
const row = (x: number) => 63 + (x % 5)
const laneCount = 65
const constant = 3 + laneCount

/** These lanes are kept inverted, which saves chi four of five negations. */
const inverted = [1, 2, 8, 12, 17, 20]

function hashBody(): number[] {
  const code: number[] = []
  for (const i of inverted) code.push(op.const64, 0x7f, op.set, lane(0, i))
  code.push(op.loop, 0x40)
  for (let i = 0; i < blockBytes / 8; i++) {
    code.push(op.get, lane(0, i), op.get, at, op.load64, 0, ...unsigned(8 * i))
    code.push(op.xor, op.set, lane(0, i))
  }
  // Two rounds at a time: all 24 in a row are as much machine code as a cache of it holds.
  code.push(op.const32, ...signed(BigInt(constantsAt)), op.set, constant, op.loop, 0x40)
  code.push(...round(0), ...iota(lane(1, 0), 0), ...round(1), ...iota(lane(0, 0), 8))
  code.push(op.get, constant, op.const32, 16, op.add32, op.tee, constant)
  code.push(
    op.const32,
    ...signed(BigInt(constantsAt + 8 * 24)),
    op.differ32,
    op.branchIf,
    0,
    op.end,
  )
  code.push(op.get, at, op.const32, ...signed(BigInt(blockBytes)), op.add32, op.set, at)
  code.push(op.get, blocks, op.const32, 1, op.sub32, op.tee, blocks, op.branchIf, 0, op.end)
  for (let i = 0; i < 4; i++) {
    const turn = inverted.includes(i) ? not : []
    code.push(op.get, out, op.get, lane(0, i), ...turn, op.store64, 0, 8 * i)
  }
  return code
}

/** One round of keccak-f[1600] but for iota, from one half of the locals into the other. */
function round(half: number): number[] {
  const code: number[] = []
  for (let x = 0; x < 5; x++) {
    code.push(op.get, lane(half, x))
    for (let y = 1; y < 5; y++) code.push(op.get, lane(half, x + 5 * y), op.xor)
    code.push(op.set, parity(x))
  }
  for (let x = 0; x < 5; x++) {
    code.push(op.get, parity(x + 4), op.get, parity(x + 1), op.const64, 1, op.rotl, op.xor)
    code.push(op.set, added(x))
  }
  for (let y = 0; y < 5; y++) {
    for (let x = 0; x < 5; x++) {
      const from = (3 * y + x) % 5
      code.push(op.get, lane(half, from + 5 * x), op.get, added(from), op.xor)
      code.push(op.const64, ...signed(BigInt(offsets[from + 5 * x] ?? 0)), op.rotl)
      code.push(op.set, row(x))
    }
    for (let x = 0; x < 5; x++) {
      code.push(...chi(x, y), op.set, lane(half + 1, x + 5 * y))
    }
  }
  return code
}

function iota(first: number, offset: number): number[] {
  const value = [op.get, constant, op.load64, 0, ...unsigned(offset)]
  return [op.get, first, ...value, op.xor, op.set, first]
}

const not = [op.const64, 0x7f, op.xor]

/** `a ^ (~b & c)` of a row, as it looks when the inverted lanes go in and come out inverted. */
function chi(x: number, y: number): number[] {
  const [sign0, sign1, operation, sign2] = forms[x + 5 * y] ?? '++&+'
  const read = (i: number, sign = '+') => [op.get, row(i), ...(sign === '-' ? not : [])]
  const join = operation === '&' ? op.and : op.or
  return [...read(x, sign0), ...read(x + 1, sign1), ...read(x + 2, sign2), join, op.xor]
}

/** Signs of the three lanes and how the last two meet, row by row. */
const forms = [
  ...['++|+', '+-|+', '++&+', '++|+', '++&+'],
  ...['++|+', '++&+', '++|-', '++|+', '++&+'],
  ...['++|+', '++&+', '+-&+', '-+|+', '++&+'],
  ...['++&+', '++|+', '+-|+', '-+&+', '++|+'],
  ...['+-&+', '-+|+', '++&+', '++|+', '++&+'],
]

/** By how much rho turns each lane, in bits. */
const offsets = [
  ...[0, 1, 62, 28, 27],
  ...[36, 44, 6, 55, 20],
  ...[3, 10, 43, 25, 39],
  ...[41, 45, 15, 21, 8],
  ...[18, 2, 61, 56, 14],
]

/** The 24 constants of iota, 8 bytes each, from the shift register of FIPS 202 (3.2.5). */
function constants(): number[] {
  let register = 1
  return Array.from({ length: 24 }).flatMap(() => {
    let constant = 0n
    for (let j = 0; j < 7; j++) {
      if (register & 1) constant |= 1n << BigInt(2 ** j - 1)
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0)
    }
    return [...new Uint8Array(BigUint64Array.of(constant).buffer)]
  })
}

const section = (id: number, items: number[][]): number[] => [
  id,
  ...sized([...unsigned(items.length), ...items.flat()]),
]

const sized = (bytes: number[]): number[] => [...unsigned(bytes.length), ...bytes]

const nameOf = (text: string): number[] => sized([...new TextEncoder().encode(text)])

/** LEB128 of an integer from 0. */
const unsigned = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]

/** LEB128 of an integer that may be negative. */
function signed(value: bigint): number[] {
  const low = Number(value & 127n)
  const rest = value >> 7n
  const last = low & 64 ? rest === -1n : rest === 0n
  return last ? [low] : [low | 128, ...signed(rest)]
}
