import { describe, expect, test } from 'bun:test'
import { toHex } from '../../src/kernel/hex.ts'
import { append, emptyFrontier, rootOf } from '../../src/proof/log/tree.ts'
import { readTiles, TileFault } from '../../src/verify/read-tiles.ts'
import { promise } from '../support/promise.ts'
import { type Files, filesOf, plainLeaf, readIn } from './tile-samples.ts'

const faultIn = async (size: number, files: Files): Promise<TileFault | undefined> => {
  try {
    await readTiles(size, readIn(files))
    return undefined
  } catch (error) {
    if (error instanceof TileFault) return error
    throw error
  }
}

describe('a log that is read from its tiles', () => {
  test.each([0, 1, 2, 255, 256, 257, 600, 65_793])(
    'of %p leaves has the root of its leaves',
    async (size) => {
      const { files, root } = filesOf(size)
      expect(toHex(await readTiles(size, readIn(files)))).toBe(toHex(root))
    },
  )

  test('shows each entry in order, and its root at the sizes that are asked for', async () => {
    const { files } = filesOf(600)
    const entries: string[] = []
    const roots = new Map<number, string>()
    await readTiles(600, readIn(files), {
      entry: (index, bytes) => void entries.push(`${index} ${toHex(bytes)}`),
      sizes: new Set([1, 256, 300, 600, 601]),
      root: (size, root) => void roots.set(size, toHex(root)),
    })
    const leaves = Array.from({ length: 600 }, (_, i) => plainLeaf(i))
    expect(entries).toEqual(
      leaves.map(({ kind, digest }, i) => `${i} ${toHex(Buffer.from([kind, ...digest]))}`),
    )
    const rootAt = (size: number) =>
      toHex(rootOf(append(emptyFrontier, leaves.slice(0, size)).frontier))
    expect([...roots]).toEqual([1, 256, 300, 600].map((size) => [size, rootAt(size)]))
  })

  test('asks for a few files at once, and for each only once', async () => {
    const { files } = filesOf(256 * 12)
    const asked: string[] = []
    let open = 0
    let most = 0
    await readTiles(256 * 12, async (path) => {
      asked.push(path)
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
      return files.get(path)
    })
    expect([asked.length, new Set(asked).size, most]).toEqual([files.size, files.size, 16])
  })

  test('goes on in the whole tile where the narrow one is gone', async () => {
    const { files } = filesOf(768)
    const { root } = filesOf(520)
    expect((await faultIn(520, files))?.message).toBe('tile/1/000.p/2: it is not there.')
    files.set('tile/1/000.p/2', files.get('tile/1/000.p/3')?.slice(0, 64) ?? new Uint8Array())
    expect(toHex(await readTiles(520, readIn(files)))).toBe(toHex(root))
  })
})

describe('a file of a log that is wrong', () => {
  const size = 600
  const good = filesOf(size).files

  promise`H16 H: An auditor with the files of a log alone finds any byte of them that was changed.`
  test.each([...good.keys()])('is named where any byte of it is changed: %s', async (path) => {
    for (const at of [0, 2, 40, (good.get(path)?.length ?? 0) - 1]) {
      const bytes = Uint8Array.from(good.get(path) ?? [])
      bytes[at] = (bytes[at] ?? 0) ^ 1
      const fault = await faultIn(size, new Map([...good, [path, bytes]]))
      // An entry and its hash contradict each other: either may be the wrong one.
      expect(`${fault?.message}`).toContain(path)
    }
  })

  test.each([...good.keys()])('is named where it is missing, short or long: %s', async (path) => {
    const bytes = good.get(path) ?? new Uint8Array()
    const without = new Map(good)
    without.delete(path)
    expect((await faultIn(size, without))?.message).toBe(`${path}: it is not there.`)
    for (const other of [bytes.slice(0, -1), Buffer.concat([bytes, bytes.slice(0, 32)])]) {
      const fault = await faultIn(size, new Map([...good, [path, other]]))
      expect([fault?.path, fault?.message]).toEqual([path, expect.stringContaining('not ')])
    }
  })

  test('is told with the places of the leaves under it', async () => {
    const change = async (path: string, at: number) => {
      const bytes = Uint8Array.from(good.get(path) ?? [])
      bytes[at] = (bytes[at] ?? 0) ^ 1
      return (await faultIn(size, new Map([...good, [path, bytes]])))?.message
    }
    expect(await change('tile/0/001', 32 * 7)).toBe(
      'tile/0/001: hash 7, of leaf 263, is not that of entry 7 in tile/entries/001.',
    )
    expect(await change('tile/entries/001', 35 * 7 + 2)).toBe(
      'tile/0/001: hash 7, of leaf 263, is not that of entry 7 in tile/entries/001.',
    )
    expect(await change('tile/entries/001', 35 * 7 + 1)).toBe(
      'tile/entries/001: not 256 entries of 33 bytes.',
    )
    expect(await change('tile/1/000.p/2', 32)).toBe(
      'tile/1/000.p/2: hash 1, of leaves 256 to 511, is not that of tile/0/001.',
    )
  })

  test('above 65,536 leaves is found too, at the second and the third level', async () => {
    const large = filesOf(65_793).files
    const changed = async (path: string, of: number, files = large) => {
      const bytes = Uint8Array.from(files.get(path) ?? [])
      bytes[31] = (bytes[31] ?? 0) ^ 128
      return (await faultIn(of, new Map([...files, [path, bytes]])))?.message
    }
    expect(await changed('tile/1/001.p/1', 65_793)).toBe(
      'tile/1/001.p/1: hash 0, of leaves 65536 to 65791, is not that of tile/0/256.',
    )
    // A log of exactly this size has no narrow tile but the topmost.
    expect(await changed('tile/2/000.p/1', 65_536)).toBe(
      'tile/2/000.p/1: hash 0, of leaves 0 to 65535, is not that of tile/1/000.',
    )
  })

  test('ends the reading with the error that a file gave', async () => {
    const { files } = filesOf(256 * 12)
    const read = async (path: string) => {
      if (path.startsWith('tile/0/00')) throw new Error('the disk is gone')
      return files.get(path)
    }
    expect(await readTiles(256 * 12, read).catch((error: Error) => error.message)).toBe(
      'the disk is gone',
    )
  })
})
