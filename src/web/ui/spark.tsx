/** A line that runs off the paper, in the bar of a figure. */

type SparkProps = {
  /** States what it shows; the same stands beside it in words or in a table. */
  title: string
  values: readonly number[]
  /** The period before, dashed. */
  before?: readonly number[]
}

export function Spark({ title, values, before }: SparkProps) {
  const top = Math.max(...values, ...(before ?? []), 0)
  return (
    <div class="spark">
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={title}>
        {before ? <path class="was" d={smoothLine(before, top)} /> : null}
        <path d={smoothLine(values, top)} />
      </svg>
    </div>
  )
}

/** Beyond so many points a bend is smaller than a pixel. */
const bentMost = 60

/**
 * A line through all points, in a box of 100 x 40: Catmull-Rom, which bends and never breaks, or
 * straight from point to point where they are dense.
 */
export function smoothLine(values: readonly number[], top = Math.max(...values)): string {
  const [width, height] = [100, 40]
  const last = Math.max(1, values.length - 1)
  const at = (i: number): [number, number] => {
    const near = Math.min(values.length - 1, Math.max(0, i))
    return [(near / last) * width, height - ((values[near] ?? 0) / (top || 1)) * height]
  }
  const inside = (y: number) => Math.min(height, Math.max(0, y))
  const text = ([x, y]: [number, number]) => `${tenths(x)} ${tenths(inside(y))}`
  if (values.length > bentMost) return `M${values.map((_, i) => text(at(i))).join('L')}`
  const bends = values.slice(1).map((_, i) => {
    const [a, b, c, d] = [at(i - 1), at(i), at(i + 1), at(i + 2)]
    const out: [number, number] = [b[0] + (c[0] - a[0]) / 6, b[1] + (c[1] - a[1]) / 6]
    const into: [number, number] = [c[0] - (d[0] - b[0]) / 6, c[1] - (d[1] - b[1]) / 6]
    return `C${text(out)} ${text(into)} ${text(c)}`
  })
  return `M${text(at(0))}${bends.join('')}`
}

/** Rounded, without a zero behind the point. */
const tenths = (value: number): number => Math.round(value * 10) / 10
