import { describe, expect, test } from 'bun:test'
import { oklchHex } from '../../src/web/pictures/oklch.ts'

describe('a colour in OKLCH', () => {
  test.each([
    [1, 0, 0, '#ffffff'],
    [0, 0, 0, '#000000'],
    [0.5999, 0, 0, '#808080'],
    [0.628, 0.2577, 29.23, '#ff0000'],
    [0.8664, 0.2948, 142.5, '#00ff00'],
    [0.452, 0.3132, 264.05, '#0000ff'],
  ] as const)('%p %p %p is %p in sRGB', (lightness, chroma, hue, hex) => {
    expect(oklchHex(lightness, chroma, hue)).toBe(hex)
  })
})
