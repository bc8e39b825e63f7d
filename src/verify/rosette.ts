/**
 * A banknote's guilloché drawn from a hash: SVG paths in a square of {@link rosetteSize} units,
 * outermost ring first. The same hash gives the same figure, so that the eye can compare what
 * stands as text beside it.
 * `hash` is hex, with or without 0x.
 */
export const rosettePaths = (hash: string): string[] =>
  ringsOf(hash, 3).map((ring) => curveOf(ring, 9))

/** The outermost ring alone, coarser, for the rows of a table. */
export const rosetteMarkPaths = (hash: string): string[] =>
  ringsOf(hash, 1).map((ring) => curveOf(ring, 6))

/** The side of the square that the paths fill. */
export const rosetteSize = 800

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

/**
 * A quadratic spline through the midpoints of its control points. Only the first control point is
 * in the path: SVG's `t` reflects the last one about the midpoint, which gives the next. On a grid
 * of half steps, with points on even numbers, each midpoint is whole, so nothing drifts.
 */
function curveOf({ radius, teeth, turns, depth }: Ring, pointsPerTooth: number): string {
  const count = Math.max(teeth * pointsPerTooth, turns * 12)
  const exact = (i: number): Point => {
    const angle = (i / count) * 2 * Math.PI * turns
    const reach = radius * (1 - depth / 2 + (depth / 2) * Math.cos((teeth / turns) * angle))
    return [400 + 2 * reach * Math.cos(angle), 400 + 2 * reach * Math.sin(angle)]
  }
  // The spline cuts its corners by an eighth of the second difference: with that put back before,
  // it goes through the points themselves.
  const controlAt = (i: number): Point => {
    const [before, at, after] = [exact(i - 1), exact(i), exact(i + 1)]
    const even = (k: 0 | 1) => 2 * Math.round((at[k] - (before[k] - 2 * at[k] + after[k]) / 8) / 2)
    return [even(0), even(1)]
  }
  const controls = Array.from({ length: count + 2 }, (_, i) => controlAt(i % count))
  const middles = controls.slice(1).map(([x, y], i): Point => {
    const [a, b] = controls[i] ?? [x, y]
    return [(a + x) / 2, (b + y) / 2]
  })
  const steps = middles.slice(1).map((to, i) => stepText(middles[i] ?? to, to))
  const [start = [0, 0]] = middles
  const first = stepText(start, controls[1] ?? start)
  const [end = '', ...rest] = steps
  const smooth = `t${rest[0] ?? ''}${rest.slice(1).map(joined).join('')}`
  return `M${start[0]} ${start[1]}q${first}${joined(end)}${smooth}z`
}

type Point = [x: number, y: number]

const stepText = ([a, b]: Point, [x, y]: Point): string => `${x - a}${y < b ? '' : ' '}${y - b}`

/** A minus parts two numbers as well as a space. */
const joined = (step: string): string => (step.startsWith('-') ? step : ` ${step}`)
