/** Draws SVG as PNG in a thread of its own: a picture keeps a processor busy for 100 ms. */
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import type { ToRenderer } from './renderer.ts'

declare const self: Worker

let fonts: Uint8Array[] = []

self.onmessage = async ({ data }: MessageEvent<ToRenderer>) => {
  if ('wasm' in data) {
    await initWasm(data.wasm)
    fonts = data.fonts
    self.postMessage({ isReady: true })
    return
  }
  const drawing = new Resvg(data.svg, { font: { fontBuffers: fonts, defaultFontFamily: 'Geist' } })
  const image = drawing.render()
  // Copies the bytes: resvg returns a view of its own memory.
  const png = image.asPng().slice()
  image.free()
  drawing.free()
  self.postMessage({ png }, [png.buffer])
}
