import { crc32, deflateSync } from 'node:zlib'

/** Pixels from top left, four bytes each: red, green, blue and an alpha that is ignored. */
export type Pixels = { width: number; height: number; rgba: Uint8Array }

/** Encodes a PNG with the 256 most frequent colours; others become the nearest of these. */
export function encodePng({ width, height, rgba }: Pixels): Buffer {
  const colourAt = (pixel: number) =>
    ((rgba[pixel * 4] ?? 0) << 16) | ((rgba[pixel * 4 + 1] ?? 0) << 8) | (rgba[pixel * 4 + 2] ?? 0)
  const counts = new Map<number, number>()
  for (let pixel = 0; pixel < width * height; pixel++) {
    const colour = colourAt(pixel)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const byCount = [...counts].sort(([a, m], [b, n]) => n - m || a - b)
  const palette = byCount.slice(0, 256).map(([colour]) => colour)
  const index = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]))

  // Each row begins with the number of its filter: 0, none.
  const rows = Buffer.alloc(height * (width + 1))
  for (let pixel = 0; pixel < width * height; pixel++) {
    const row = Math.floor(pixel / width)
    rows[pixel + row + 1] = index.get(colourAt(pixel)) ?? 0
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits a pixel, which are an index into the palette.
  header.set([8, 3], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(channels))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const channels = (colour: number) => [colour >> 16, (colour >> 8) & 255, colour & 255]

function nearest(palette: readonly number[], colour: number): number {
  const distances = palette.map((other) =>
    channels(other).reduce((sum, value, at) => sum + (value - (channels(colour)[at] ?? 0)) ** 2, 0),
  )
  return distances.indexOf(Math.min(...distances))
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const around = Buffer.alloc(8)
  around.writeUInt32BE(data.length, 0)
  around.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)])
}
