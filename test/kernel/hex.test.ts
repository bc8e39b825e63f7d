import { describe, expect, test } from 'bun:test'

const bytes = Uint8Array.from({ length: 256 }, (_, at) => at)
const digits = Buffer.from(bytes).toString('hex')

/** Loads the module as a browser without the conversions of ES2026 does. */
async function portable(): Promise<typeof import('../../src/kernel/hex.ts')> {
  const { fromHex } = Uint8Array
  Reflect.deleteProperty(Uint8Array, 'fromHex')
  try {
    return await import(`../../src/kernel/hex.ts?${Bun.nanoseconds()}`)
  } finally {
    Object.assign(Uint8Array, { fromHex })
  }
}

describe.each([
  ['by the engine', () => import('../../src/kernel/hex.ts')],
  ['by itself', portable],
])('hex %s', (_, load) => {
  test('reads what it wrote, in either case', async () => {
    const { fromHex, toHex } = await load()
    expect([toHex(bytes), toHex(new Uint8Array())]).toEqual([`0x${digits}`, '0x'])
    expect([fromHex(`0x${digits}`), fromHex(`0x${digits.toUpperCase()}`)]).toEqual([bytes, bytes])
  })

  test.each(['', '00', '0x0', '0x0g', '0x 0', '0x00\n', '0X00'])('refuses %j', async (text) => {
    const { fromHex } = await load()
    expect(() => fromHex(text)).toThrow('not hex that starts with 0x')
  })
})
