import { describe, expect, test } from 'bun:test'
import { isTileOf, parseTilePath, tilePath } from '../../src/verify/log-tiles.ts'

describe('the path of a tile', () => {
  test.each([
    ['tile/0/000', { level: 0, index: 0, width: 256 }],
    ['tile/0/000.p/1', { level: 0, index: 0, width: 1 }],
    ['tile/63/x001/x234/067.p/255', { level: 63, index: 1_234_067, width: 255 }],
    ['tile/entries/x001/000', { level: 'entries' as const, index: 1000, width: 256 }],
    ['tile/entries/999.p/12', { level: 'entries' as const, index: 999, width: 12 }],
  ])('is read as it is written: %s', (path, tile) => {
    expect(parseTilePath(path)).toEqual(tile)
    expect(tilePath(tile)).toBe(path)
  })

  test.each([
    ...['tile/0/000.p/0', 'tile/0/000.p/256', 'tile/0/000.p/01', 'tile/64/000', 'tile/00/000'],
    ...['tile/0/0', 'tile/0/x000/001', 'tile/0/001/000', 'tile/data/000', 'tile/0/000/', ''],
  ])('is refused in another form: %s', (path) => {
    expect(parseTilePath(path)).toBeUndefined()
  })
})

test('a log has the tiles whose hashes are all there', () => {
  const has = (path: string, size: number) => {
    const tile = parseTilePath(path)
    return tile && isTileOf(tile, size)
  }
  const rows: [path: string, size: number][] = [
    ...([
      ['tile/0/000', 256],
      ['tile/0/001.p/44', 300],
      ['tile/entries/001', 512],
    ] as const),
    ...([
      ['tile/entries/000.p/7', 7],
      ['tile/1/000.p/2', 512],
      ['tile/2/000.p/1', 65_536],
    ] as const),
  ].map(([path, size]) => [path, size])
  for (const [path, size] of rows) {
    expect([path, has(path, size), has(path, size - 1)]).toEqual([path, true, false])
  }
})
