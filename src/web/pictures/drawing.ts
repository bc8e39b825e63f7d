/** Draws the parts of link pictures as SVG: 1200 x 630 px, readable at a quarter of that. */

import {
  brandHash,
  hueDegrees,
  rosetteHues,
  rosetteMarkPaths,
  rosettePaths,
  rosetteSize,
} from '../../verify/rosette.ts'
import { oklchHex } from './oklch.ts'

export const pictureWidth = 1200
export const pictureHeight = 630

/** The colours of the stylesheet's light theme, and the deep green around the paper. */
export const colours = {
  around: oklchHex(0.29, 0.055, 163),
  onAround: oklchHex(0.96, 0.03, 155),
  paper: oklchHex(0.994, 0.004, 120),
  bar: oklchHex(0.952, 0.028, 152),
  hole: oklchHex(0.87, 0.025, 160),
  ink: oklchHex(0.24, 0.025, 172),
  quiet: oklchHex(0.43, 0.022, 172),
  line: oklchHex(0.6, 0.03, 165),
  go: oklchHex(0.41, 0.095, 161),
} as const

/** A whole picture. */
export const picture = (...parts: string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${pictureWidth}" height="${pictureHeight}">` +
  `<rect width="${pictureWidth}" height="${pictureHeight}" fill="${colours.around}"/>` +
  `${parts.join('')}</svg>`

type Style = {
  size: number
  fill?: string
  isMono?: boolean
  isBold?: boolean
  anchor?: 'start' | 'end'
  /** Letter spacing, in px. */
  spacing?: number
}

/** A line of text; characters that the fonts lack are left out. */
export function text(x: number, y: number, words: string, style: Style): string {
  const { size, fill = colours.ink, isMono, isBold, anchor = 'start', spacing = 0 } = style
  const family = isMono ? 'Geist Mono' : 'Geist'
  return (
    `<text x="${x}" y="${y}" font-family="${family}" font-weight="${isBold ? 600 : 400}" ` +
    `font-size="${size}" letter-spacing="${spacing}" text-anchor="${anchor}" fill="${fill}">` +
    `${Bun.escapeHTML(words.replace(unknown, ''))}</text>`
  )
}

/** Whether the fonts have every character of a name. */
export const isDrawable = (words: string): boolean => words.search(unknown) === -1

/** Characters that `scripts/fonts.ts` left out. */
const unknown = /[^\x20-\x7e\u00a0-\u00ffıŁłŒœŠšŸŽž–—‘’‚“”„†•…‹›€™−←→↑↓≤≥]/gu

/** Width of a character of Geist Mono, in em. */
const monoEm = 0.6
/** An upper bound of the mean character width of Geist, in em. */
const sansEm = 0.58

/** The largest size up to `most` in which words are at most `width` px wide. */
export const sizeIn = (words: string, width: number, most: number, isMono = false): number =>
  Math.min(most, Math.floor(width / (words.length * (isMono ? monoEm : sansEm))))

/** Shortens words that are too long, with an ellipsis. */
export const cut = (words: string, most: number): string =>
  words.length <= most ? words : `${words.slice(0, most - 1).trimEnd()}…`

/** The figure of a hash in its two hues, `size` px wide. `isLight`: on the deep green. */
export function figure(hash: string, x: number, y: number, size: number, isLight = false): string {
  const [a, b] = rosetteHues(hash).map((hue) =>
    isLight ? oklchHex(0.8, 0.11, hueDegrees(hue)) : oklchHex(0.47, 0.13, hueDegrees(hue)),
  )
  const paths = rosettePaths(hash).map(
    (path, i) => `<path d="${path}" stroke="${i === 1 ? b : a}"/>`,
  )
  return (
    `<g transform="translate(${x} ${y}) scale(${size / rosetteSize})" fill="none" ` +
    `stroke-width="6">${paths.join('')}</g>`
  )
}

/** Continuous paper from the top edge down: a green bar every other row, holes, a torn edge. */
export function paper(x: number, width: number, height: number, row: number): string {
  const tooth = 12
  const teeth = Math.floor(width / (2 * tooth))
  const edge = `l${-tooth} ${tooth}l${-tooth} ${-tooth}`.repeat(teeth)
  const sheet = `M${x} -20h${teeth * 2 * tooth}V${height}${edge}z`
  const bars = Array.from({ length: Math.ceil((height - row) / (2 * row)) }, (_, i) => {
    const top = row + i * 2 * row
    const size = `width="${teeth * 2 * tooth}" height="${Math.min(row, height - top)}"`
    return `<rect x="${x}" y="${top}" ${size} fill="${colours.bar}"/>`
  })
  const holes = [x + 30, x + width - 30].flatMap((cx) =>
    Array.from({ length: Math.floor(height / 52) }, (_, i) => {
      return `<circle cx="${cx}" cy="${30 + i * 52}" r="9" fill="${colours.hole}"/>`
    }),
  )
  return `<path d="${sheet}" fill="${colours.paper}"/>${bars.join('')}${holes.join('')}`
}

/** The logo and the name. */
export function brand(x: number, y: number, size: number, fill: string = colours.onAround): string {
  const mark = rosetteMarkPaths(brandHash).map((path) => `<path d="${path}"/>`)
  const scale = (size * 1.25) / rosetteSize
  return (
    `<g transform="translate(${x} ${y - size * 0.98}) scale(${scale})" fill="none" ` +
    `stroke="${fill}" stroke-width="28">${mark.join('')}</g>` +
    text(x + size * 1.6, y, 'Counterfoil', { size, fill, isMono: true, isBold: true, spacing: -1 })
  )
}
