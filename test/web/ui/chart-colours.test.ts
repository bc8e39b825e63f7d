import { expect, test } from 'bun:test'

/** What people with each kind of colour blindness see of linear sRGB (Machado and others, 2009). */
const eyes = {
  all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  'no red': [0.152, 1.053, -0.205, 0.115, 0.786, 0.099, -0.004, -0.048, 1.052],
  'no green': [0.367, 0.861, -0.228, 0.28, 0.673, 0.047, -0.012, 0.043, 0.969],
  'no blue': [1.256, -0.077, -0.179, -0.078, 0.931, 0.148, 0.005, 0.691, 0.304],
}
const css = await Bun.file('public/app.css').text()
const themes = ['light', 'dark'] as const
const cases = themes.flatMap((theme) =>
  Object.keys(eyes).map((eye) => [theme, eye as keyof typeof eyes] as const),
)

test.each(cases)('the colours of charts are told apart, %s, eyes: %s', (theme, eye) => {
  const seen = [1, 2, 3, 4, 5, 6].map((n) => labOf(through(eye, colour(`i${n}`, theme))))
  for (const [i, one] of seen.entries()) {
    for (const [j, other] of seen.entries()) {
      if (j <= i) continue
      const apart = Math.hypot(...one.map((value, k) => value - (other[k] ?? 0)))
      // A difference of 0.02 can just be seen.
      expect([`i${i + 1}`, `i${j + 1}`, apart > 0.1]).toEqual([`i${i + 1}`, `i${j + 1}`, true])
    }
  }
})

test.each(themes)('each stands out from the paper by 3 to 1, %s', (theme) => {
  const paper = lightOf(colour('paper', theme))
  for (const name of ['i1', 'i2', 'i3', 'i4', 'i5', 'i6']) {
    const own = lightOf(colour(name, theme))
    const contrast = (Math.max(own, paper) + 0.05) / (Math.min(own, paper) + 0.05)
    expect([name, contrast >= 3]).toEqual([name, true])
  }
})

/** The least contrast of each pair: 4.5 of text and 3 of shapes, more where the design has more. */
const pairs: [front: string, back: string, least: number][] = [
  ['ink', 'paper', 12],
  ['ink', 'bar', 11],
  ['ink-2', 'paper', 7],
  ['ink-2', 'bar', 6],
  ['ink-2', 'bar-2', 4.5],
  ['go', 'paper', 4.5],
  ['go', 'bar', 4.5],
  ['go-on', 'go', 4.5],
  ['warn', 'paper', 4.5],
  ['warn', 'bar', 4.5],
  ['warn', 'warn-wash', 4.5],
  ['bad', 'paper', 4.5],
  ['bad', 'bar', 6.1],
  ['bad', 'bad-wash', 4.5],
  ['ink', 'warn-wash', 4.5],
  ['ink', 'bad-wash', 4.5],
  ['hot', 'paper', 4.6],
  ['hot', 'bar', 4.6],
  ['edge', 'paper', 3.5],
  ['edge', 'bar', 3.4],
  ['edge', 'in', 3],
  ['cream', 'cloth', 12],
  ['cream', 'cloth-up', 4.5],
  ['cream-2', 'cloth', 8],
  ['cream-2', 'cloth-up', 4.5],
  ['gilt', 'cloth', 3],
]

test.each(themes)('text stands out by 4.5 to 1 and shapes by 3 to 1 at least, %s', (theme) => {
  for (const [front, back, least] of pairs) {
    const [one, other] = [lightOf(colour(front, theme)), lightOf(colour(back, theme))]
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
    expect([front, back, contrast >= least]).toEqual([front, back, true])
  }
})

/** A token of the stylesheet as linear sRGB; cloth is the same by day and by night. */
function colour(name: string, theme: (typeof themes)[number]): number[] {
  const themed = `--${name}: light-dark\\(oklch\\((.*?)\\), oklch\\((.*?)\\)\\)`
  const found = new RegExp(themed).exec(css) ?? new RegExp(`--${name}: oklch\\((.*?)\\)`).exec(css)
  if (!found) throw new Error(`the stylesheet has no token ${name}`)
  const [L = 0, C = 0, H = 0] = (found[theme === 'light' ? 1 : 2] ?? found[1] ?? '')
    .split(' ')
    .map((part) => Number.parseFloat(part) / (part.endsWith('%') ? 100 : 1))
  const [a, b] = [C * Math.cos((H * Math.PI) / 180), C * Math.sin((H * Math.PI) / 180)]
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3
  return inside([
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ])
}

function through(eye: keyof typeof eyes, [r = 0, g = 0, b = 0]: number[]): number[] {
  const of = eyes[eye]
  const row = (i: number) => (of[i] ?? 0) * r + (of[i + 1] ?? 0) * g + (of[i + 2] ?? 0) * b
  return inside([row(0), row(3), row(6)])
}

/** OKLab. */
function labOf([r = 0, g = 0, b = 0]: number[]): number[] {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}

const inside = (all: number[]): number[] => all.map((one) => Math.min(1, Math.max(0, one)))
const lightOf = ([r = 0, g = 0, b = 0]: number[]): number => 0.2126 * r + 0.7152 * g + 0.0722 * b
