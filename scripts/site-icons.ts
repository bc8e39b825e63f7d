/**
 * `bun scripts/site-icons.ts`: writes the icons of public/ in PNG and ICO, from the logo's figure:
 * favicon.ico for old browsers, touch-icon.png for home screens, icon-192.png and icon-512.png for
 * the manifest. Run it after changing the logo.
 */
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { brandHash, rosetteMarkPaths, rosetteSize } from '../src/verify/rosette.ts'
import { colours } from '../src/web/pictures/drawing.ts'

await initWasm(await Bun.file(Bun.resolveSync('@resvg/resvg-wasm/index_bg.wasm', '.')).bytes())

await Bun.write('public/favicon.ico', ico([16, 32, 48].map((size) => [size, png(logo(size))])))
await Bun.write('public/touch-icon.png', png(tile(180)))
for (const size of [192, 512]) await Bun.write(`public/icon-${size}.png`, png(tile(size)))

/** The figure alone, with strokes of at least a pixel and a half. */
function logo(size: number): string {
  const stroke = Math.max(28, 1200 / size)
  return svg(size, `<g fill="none" stroke="#1c8a5c" stroke-width="${stroke}">${figure()}</g>`)
}

/** The figure on the deep green, inside of the circle that a mask may leave. */
function tile(size: number): string {
  const inner =
    `<rect width="400" height="400" fill="${colours.around}"/>` +
    `<g transform="translate(62 62) scale(.69)" fill="none" stroke="${colours.onAround}" ` +
    `stroke-width="30">${figure()}</g>`
  return svg(size, inner)
}

function figure(): string {
  const paths = rosetteMarkPaths(brandHash).map((path) => `<path d="${path}"/>`)
  return `<g transform="scale(${400 / rosetteSize})">${paths.join('')}</g>`
}

function svg(size: number, inner: string): string {
  const box = `width="${size}" height="${size}" viewBox="0 0 400 400"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box}>${inner}</svg>`
}

function png(drawing: string): Uint8Array {
  return new Resvg(drawing).render().asPng()
}

/** An ICO of PNGs: a directory of 16 bytes an image, then the images. */
function ico(images: [size: number, png: Uint8Array][]): Uint8Array {
  const head = Buffer.alloc(6 + 16 * images.length)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(images.length, 4)
  let at = head.length
  images.forEach(([size, bytes], i) => {
    const entry = 6 + 16 * i
    head.writeUInt8(size, entry)
    head.writeUInt8(size, entry + 1)
    head.writeUInt16LE(1, entry + 4)
    head.writeUInt16LE(32, entry + 6)
    head.writeUInt32LE(bytes.length, entry + 8)
    head.writeUInt32LE(at, entry + 12)
    at += bytes.length
  })
  return Buffer.concat([head, ...images.map(([, bytes]) => bytes)])
}
