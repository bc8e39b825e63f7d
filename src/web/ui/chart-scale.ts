/** Decides the height of a chart: its round steps, and the bars that it tears. */

export type ChartScale = {
  /** The value at the top line. */
  max: number
  /** Values of the lines from the bottom on: 0 and three or four round steps. */
  ticks: readonly number[]
}

/** The bars that are too few to tell which of them stands out. */
const fewBars = 10

/**
 * The value above which a bar is torn: twice the 95th percentile of those that are not empty. The
 * scale ignores torn bars. Infinite for few bars.
 */
export function tornAbove(values: readonly number[]): number {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b)
  if (sorted.length < fewBars) return Number.POSITIVE_INFINITY
  return 2 * (sorted[Math.floor(0.95 * (sorted.length - 1))] ?? 0)
}

const roundSteps = [1, 2, 2.5, 5, 10]
const wholeSteps = [1, 2, 3, 4, 5, 10]

/** Three or four round steps up to the highest bar that is not torn; whole ones for counts. */
export function scaleOf(values: readonly number[], isWhole = false): ChartScale {
  const limit = tornAbove(values)
  const highest = values.reduce((most, value) => (value <= limit && value > most ? value : most), 0)
  const step = highest > 0 ? stepFor(highest, isWhole) : 1
  const count = Math.max(3, Math.ceil(round(highest / step)))
  const ticks = Array.from({ length: count + 1 }, (_, i) => round(i * step))
  return { max: round(count * step), ticks }
}

function stepFor(highest: number, isWhole: boolean): number {
  const magnitude = 10 ** Math.floor(Math.log10(highest / 4))
  const unit = isWhole ? Math.max(1, magnitude) : magnitude
  const steps = isWhole && unit < 10 ? wholeSteps : roundSteps
  const fits = steps.find((step) => round(highest / (step * unit)) <= 4)
  return round((fits ?? 10) * unit)
}

/** Without the last digits of binary fractions. */
const round = (value: number): number => Number(value.toPrecision(12))

/** Every how many bars a name stands below: at most seven names. */
export function namedEvery(count: number): number {
  const few = [1, 2, 3, 4, 7, 14, 28].find((every) => count / every <= 7)
  return few ?? Math.ceil(count / 7)
}
