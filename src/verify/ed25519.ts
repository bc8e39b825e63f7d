/** Verifies Ed25519 signatures (RFC 8032) in plain integers: nothing here is secret. */
import { sha512 } from '@noble/hashes/sha2.js'

/** The field, 2^255 - 19. */
const p = 2n ** 255n - 19n
/** The order of the base point. */
const order = 2n ** 252n + 27742317777372353535851937790883648493n
/** The curve: -x² + y² = 1 + dx²y². */
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const rootOfMinusOne = power(2n, (p - 1n) / 4n)

/** Extended coordinates: x = X/Z, y = Y/Z, T = XY/Z. */
type Point = { x: bigint; y: bigint; z: bigint; t: bigint }

const identity: Point = { x: 0n, y: 1n, z: 1n, t: 0n }
const base = pointOf(
  15112221349535400772501151409588531511454012693041857206046113283949847762202n,
  46316835694926478169428394003475163141307993866256225615783033603165251855960n,
)

/**
 * Whether a key made a signature of 64 bytes over a message. Strict: `s` and the key have their
 * canonical forms, and R is compared byte by byte, as OpenSSL and Go do. Never throws.
 */
export function verifyEd25519(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  if (signature.length !== 64 || publicKey.length !== 32) return false
  if (!isCanonical(publicKey) || toInteger(signature.subarray(32)) >= order) return false
  return checking(signature, message, publicKey)
}

type Check = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean

/** Checks a signature in plain integers, 50 ms each on a slow machine. */
export const portableEd25519: Check = (signature, message, publicKey) => {
  const key = decode(publicKey)
  if (!key) return false
  const s = toInteger(signature.subarray(32))
  const r = signature.subarray(0, 32)
  const hash = sha512.create().update(r).update(publicKey).update(message).digest()
  const k = toInteger(hash) % order
  const negated = pointOf(p - key.x, key.y)
  const expected = encode(add(multiply(base, s), multiply(negated, k)))
  return expected.every((byte, i) => byte === r[i])
}

let checking: Check = portableEd25519

/** Replaces the arithmetic, where a runtime has a faster one of its own. */
export const useEd25519 = (check: Check): void => {
  checking = check
}

/** Whether a key has the one form that its point has (RFC 8032 §5.1.3). */
function isCanonical(publicKey: Uint8Array): boolean {
  const whole = toInteger(publicKey)
  const y = whole & (2n ** 255n - 1n)
  // These two values of y mean x = 0, which has no other sign: the sign bit must be 0.
  return y < p && !((y === 1n || y === p - 1n) && whole >> 255n === 1n)
}

/** Little-endian. */
const toInteger = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)

function mod(n: bigint): bigint {
  const rest = n % p
  return rest < 0n ? rest + p : rest
}

function pointOf(x: bigint, y: bigint): Point {
  return { x, y, z: 1n, t: mod(x * y) }
}

function power(of: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = of
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = mod(result * square)
    square = mod(square * square)
  }
  return result
}

/** The sum of any two points, equal ones included: the formula of RFC 8032 §5.1.4 is complete. */
function add(one: Point, two: Point): Point {
  const a = mod((one.y - one.x) * (two.y - two.x))
  const b = mod((one.y + one.x) * (two.y + two.x))
  const c = mod(2n * d * mod(one.t * two.t))
  const e = mod(2n * one.z * two.z)
  const [u, v, w, h] = [b - a, e - c, e + c, b + a]
  return { x: mod(u * v), y: mod(w * h), z: mod(v * w), t: mod(u * h) }
}

function multiply(point: Point, times: bigint): Point {
  let sum = identity
  let doubled = point
  for (let left = times; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) sum = add(sum, doubled)
    doubled = add(doubled, doubled)
  }
  return sum
}

/** The point of a key (RFC 8032 §5.1.3); undefined if there is none, or in another form. */
function decode(bytes: Uint8Array): Point | undefined {
  const whole = toInteger(bytes)
  const sign = whole >> 255n
  const y = whole & (2n ** 255n - 1n)
  if (y >= p) return undefined
  const [u, v] = [mod(y * y - 1n), mod(d * y * y + 1n)]
  const root = mod(u * v ** 3n * power(mod(u * v ** 7n), (p - 5n) / 8n))
  const square = mod(v * root * root)
  if (square !== u && square !== mod(-u)) return undefined
  const x = square === u ? root : mod(root * rootOfMinusOne)
  if (x === 0n && sign === 1n) return undefined
  return pointOf((x & 1n) === sign ? x : p - x, y)
}

function encode({ x, y, z }: Point): Uint8Array {
  const inverse = power(z, p - 2n)
  const odd = mod(x * inverse) & 1n
  let left = mod(y * inverse) | (odd << 255n)
  return Uint8Array.from({ length: 32 }, () => {
    const byte = Number(left & 255n)
    left >>= 8n
    return byte
  })
}
