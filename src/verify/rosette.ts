/**
 * A banknote's guilloché drawn from a hash: SVG paths in a square of 400, outermost ring first. The
 * same hash gives the same figure, so that the eye can compare what stands as text beside it.
 * `hash` is hex, with or without 0x.
 */
export const rosettePaths = (hash: string): string[] =>
  ringsOf(hash, 3).map((ring) => curveOf(ring, 14))

/** The outermost ring alone, coarser, for the rows of a table. */
export const rosetteMarkPaths = (hash: string): string[] =>
  ringsOf(hash, 1).map((ring) => curveOf(ring, 6))

/** A hypotrochoid: `teeth` petals over `turns` turns, no common divisor, `depth` of its radius. */
type Ring = { radius: number; teeth: number; turns: number; depth: number }

/** How many hues there are. None of them is near vermilion, which is for what is live. */
const hueCount = 12

/** The two hues of a figure, as numbers below {@link hueCount}, at least a quarter turn apart. */
export function rosetteHues(hash: string): [number, number] {
  const byte = byteOf(hash)
  const first = byte(9) % hueCount
  return [first, (first + 3 + (byte(10) % 7)) % hueCount]
}

/** A hue on the wheel, in degrees; the stylesheet has the same in its classes `a0` to `b11`. */
export const hueDegrees = (hue: number): number => 60 + 25 * hue

/** SHA-256 of "counterfoil": the logo is its figure. */
export const brandHash = '4403e4c4323b63bb1f169d08cbf025f9cee66eaefafcf6518795a43d86d75f21'

/** Reads the bytes of a hash, again from the start where it ends. */
function byteOf(hash: string): (i: number) => number {
  const digits = hash.replace(/^0x/, '').replace(/[^0-9a-f]/gi, '') || '0'
  return (i) => {
    const at = (2 * i) % digits.length
    return Number.parseInt(digits.slice(at, at + 2), 16)
  }
}

function ringsOf(hash: string, count: number): Ring[] {
  const byte = byteOf(hash)
  return Array.from({ length: count }, (_, ring) => {
    const teeth = 7 + (byte(3 * ring) % 12)
    let turns = 2 + (byte(3 * ring + 1) % 4)
    while (divisor(teeth, turns) !== 1) turns++
    return { radius: 190 - ring * 45, teeth, turns, depth: 0.35 + byte(3 * ring + 2) / 510 }
  })
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/** Points on the ring, each as a whole step from the one before it: a third of the digits. */
function curveOf({ radius, teeth, turns, depth }: Ring, pointsPerTooth: number): string {
  const count = Math.max(teeth * pointsPerTooth, turns * 16)
  const pointAt = (i: number): [number, number] => {
    const angle = (i / count) * 2 * Math.PI * turns
    const reach = radius * (1 - depth / 2 + (depth / 2) * Math.cos((teeth / turns) * angle))
    return [Math.round(200 + reach * Math.cos(angle)), Math.round(200 + reach * Math.sin(angle))]
  }
  let [x, y] = pointAt(0)
  let path = `M${x} ${y}l`
  for (let i = 1; i < count; i++) {
    const [nextX, nextY] = pointAt(i)
    path += `${i === 1 || nextX < x ? '' : ' '}${nextX - x}${nextY < y ? '' : ' '}${nextY - y}`
    ;[x, y] = [nextX, nextY]
  }
  return `${path}z`
}
