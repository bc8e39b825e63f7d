/**
 * `bun scripts/fonts.ts`: writes the fonts of public/, cut down from Geist and Geist Mono (SIL Open
 * Font License 1.1: public/geist.LICENSE.txt, public/geist-mono.LICENSE.txt). Pages get variable
 * fonts as WOFF2; the pictures of links take single weights as TrueType, which is all their
 * renderer reads. Characters that are left out fall back to the system's fonts.
 */
import subset from 'subset-font'

const ascii = between(0x20, 0x7e)
/** Letters with accents: a page loads their file when it has any. */
const latin = `${between(0xa0, 0xff)}ıŁłŒœŠšŸŽž`
const punctuation = '–—‘’‚“”„†•…‹›€™−←→↑↓≤≥'

/** OpenType features to keep: tabular figures, kerning, marks. */
const allFeatures = ['ccmp', 'kern', 'liga', 'locl', 'mark', 'mkmk', 'tnum']
/** Every page loads these characters: they have no marks, and ligatures would weigh a twentieth. */
const fewFeatures = ['kern', 'tnum']
const noHinting = true

/** Weights as the stylesheet uses them. */
const wght = { min: 400, max: 700 }

const sans = await source('geist')
const mono = await source('geist-mono')
const forText = ascii + latin + punctuation
const forFigures = `${ascii}\u00a0${punctuation}·×`

await write('public/geist.woff2', sans, forFigures, {
  variationAxes: { wght },
  format: 'woff2',
  keepFeatures: fewFeatures,
})
await write('public/geist-latin.woff2', sans, latin, { variationAxes: { wght }, format: 'woff2' })
await write('public/geist-mono.woff2', mono, forFigures, {
  variationAxes: { wght },
  format: 'woff2',
  keepFeatures: fewFeatures,
})
for (const weight of [400, 600]) {
  const axes = { variationAxes: { wght: weight }, format: 'truetype' as const }
  await write(`public/pictures/geist-${weight}.ttf`, sans, forText, axes)
  await write(`public/pictures/geist-mono-${weight}.ttf`, mono, forText, axes)
}

type Cut = {
  variationAxes: Record<string, number | { min: number; max: number }>
  format: 'woff2' | 'truetype'
  keepFeatures?: string[]
}

async function write(to: string, font: Buffer, text: string, { format, ...how }: Cut) {
  const options = { keepFeatures: allFeatures, targetFormat: format, ...how, noHinting }
  const cut = await subset(font, text, options)
  await Bun.write(to, cut)
  console.log(to, cut.length)
}

async function source(name: string): Promise<Buffer> {
  const path = `@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`
  return Buffer.from(await Bun.file(Bun.resolveSync(path, import.meta.dir)).arrayBuffer())
}

/** The characters from one code point to another, both with it. */
function between(first: number, last: number): string {
  return String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, i) => first + i))
}
