/**
 * The public key that made a signature, over secp256k1 (SEC 1 §4.1.6, SEC 2 §2.4.1): all that a
 * verifier needs of the curve. A library's curve is a third of the page that verifies. Nothing here
 * is secret, so nothing takes constant time; never sign with this.
 */

const p = 2n ** 256n - 2n ** 32n - 977n
/** The order of the group. */
export const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Jacobian coordinates: (x / z², y / z³). */
type Point = readonly [x: bigint, y: bigint, z: bigint]

const G: Point = [
  0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  1n,
]

/** The signature and what was signed, as numbers; `isOdd` is the parity of R's y. */
export type Signed = { z: bigint; r: bigint; s: bigint; isOdd: boolean }

/**
 * Q = r⁻¹(sR − zG), as the two coordinates of the key; undefined when r or s is out of range, r is
 * the x of no point, or Q is the point at infinity, which is nobody's key.
 */
export function recoverKey({ z, r, s, isOdd }: Signed): { x: bigint; y: bigint } | undefined {
  if (r <= 0n || r >= order || s <= 0n || s >= order) return undefined
  const square = mod(r * r * r + 7n)
  const root = power(square, (p + 1n) / 4n)
  if (mod(root * root) !== square) return undefined
  const y = ((root & 1n) === 1n) === isOdd ? root : p - root
  const inverse = invert(r, order)
  const key = sumOfTwo(mod(-z * inverse, order), G, mod(s * inverse, order), [r, y, 1n])
  if (!key) return undefined
  const zInverse = invert(key[2], p)
  const zSquare = mod(zInverse * zInverse)
  return { x: mod(key[0] * zSquare), y: mod(key[1] * zSquare * zInverse) }
}

/** aA + bB, doubling once for both (Shamir's trick); undefined is the point at infinity. */
function sumOfTwo(a: bigint, A: Point, b: bigint, B: Point): Point | undefined {
  const both = add(A, B)
  let sum: Point | undefined
  for (let bit = 255n; bit >= 0n; bit--) {
    sum = sum && double(sum)
    const isA = ((a >> bit) & 1n) === 1n
    const isB = ((b >> bit) & 1n) === 1n
    if (isA || isB) sum = add(sum, isA ? (isB ? both : A) : B)
  }
  return sum
}

/** On a curve without a term in x; no point of it has y = 0. */
function double([x, y, z]: Point): Point {
  const yy = mod(y * y)
  const d = mod(4n * x * yy)
  const e = 3n * x * x
  const x3 = mod(e * e - 2n * d)
  return [x3, mod(e * (d - x3) - 8n * yy * yy), mod(2n * y * z)]
}

function add(one: Point | undefined, other: Point | undefined): Point | undefined {
  if (!one || !other) return one ?? other
  const [x1, y1, z1] = one
  const [x2, y2, z2] = other
  const [zz1, zz2] = [mod(z1 * z1), mod(z2 * z2)]
  const [u1, u2] = [mod(x1 * zz2), mod(x2 * zz1)]
  const [s1, s2] = [mod(y1 * zz2 * z2), mod(y2 * zz1 * z1)]
  if (u1 === u2) return s1 === s2 ? double(one) : undefined
  const h = mod(u2 - u1)
  const t = s2 - s1
  const hh = mod(h * h)
  const hhh = mod(h * hh)
  const v = mod(u1 * hh)
  const x3 = mod(t * t - hhh - 2n * v)
  return [x3, mod(t * (v - x3) - s1 * hhh), mod(z1 * z2 * h)]
}

function mod(a: bigint, m = p): bigint {
  const rest = a % m
  return rest < 0n ? rest + m : rest
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let [square, left] = [base, exponent]; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = mod(result * square)
    square = mod(square * square)
  }
  return result
}

/** By the extended Euclidean algorithm; `a` is not a multiple of the prime `m`. */
function invert(a: bigint, m: bigint): bigint {
  let [r0, r1, t0, t1] = [m, mod(a, m), 0n, 1n]
  while (r1 !== 0n) {
    const q = r0 / r1
    const [r2, t2] = [r0 - q * r1, t0 - q * t1]
    r0 = r1
    r1 = r2
    t0 = t1
    t1 = t2
  }
  return mod(t0, m)
}
