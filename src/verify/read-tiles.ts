/** Recomputes a log from its tiles: each entry, the hashes of each level, and the roots. */
import { sha256 } from '@noble/hashes/sha2.js'
import { entriesIn, leavesUnder, type Tile, tilePath, tilesOf, tileWidth } from './log-tiles.ts'
import { isEqualBytes, type LeafKind, leafHash, nodeHash } from './merkle.ts'

/** The bytes of a file by its path below the prefix of a log; undefined if it is not there. */
export type ReadFile = (path: string) => Promise<Uint8Array | undefined>

/** A file of a log that is missing, or not what the others say; the message has its path. */
export class TileFault extends Error {
  constructor(
    readonly path: string,
    why: string,
  ) {
    super(`${path}: ${why}.`)
  }
}

/** Callbacks of a reader, and the sizes whose roots it wants. */
export type Visit = {
  /** An entry, in the order of the log; `bytes` are its kind and digest. */
  entry?(index: number, bytes: Uint8Array): void
  /** The root at each of these sizes. */
  sizes?: ReadonlySet<number>
  root?(size: number, root: Uint8Array): void
}

/** Files asked for at once: answers of a distant server overlap. */
const readAhead = 8

/**
 * Reads all tiles of a log of `size` leaves, compares each entry with its hash and each hash with
 * those below it, and returns the root, which the caller compares with a signed one.
 * @throws TileFault that names the first wrong or missing file; the error of `read`
 */
export async function readTiles(
  size: number,
  read: ReadFile,
  { entry, sizes, root }: Visit = {},
): Promise<Uint8Array> {
  const peaks: Peak[] = []
  const upper: Upper[] = []
  const bottom = inOrder(tilesOf(0, size), (tile) => readBottom(read, tile))
  for await (const { index, entries, hashes } of bottom) {
    for (const [i, bytes] of entries.entries()) {
      const at = index * tileWidth + i
      const leaf = leafHash((bytes[0] ?? 0) as LeafKind, bytes.subarray(1))
      if (!isEqualBytes(leaf, hashes[i] ?? nothing)) {
        const bundle = tilePath({ level: 'entries', index, width: entries.length })
        throw new TileFault(
          tilePath({ level: 0, index, width: entries.length }),
          `hash ${i}, of leaf ${at}, is not that of entry ${i} in ${bundle}`,
        )
      }
      entry?.(at, bytes)
      for (const made of addLeaf(peaks, leaf)) noteHash(upper, made)
      if (sizes?.has(at + 1)) root?.(at + 1, rootOf(peaks))
    }
    for (const [above, level] of upper.entries()) {
      if (level.hashes.length === tileWidth) await compare(read, above + 1, level)
    }
  }
  for (const [above, level] of upper.entries()) {
    if (level.hashes.length > 0) await compare(read, above + 1, level)
  }
  return rootOf(peaks)
}

const nothing = new Uint8Array()

/** A perfect subtree of 2^height leaves. */
type Peak = { height: number; hash: Uint8Array }

/** The hashes of a level that were computed and not compared yet, from `index` × 256 on. */
type Upper = { index: number; hashes: Uint8Array[] }

/** Adds a leaf to the peaks, in place; returns the subtrees that it completed. */
function addLeaf(peaks: Peak[], leaf: Uint8Array): Peak[] {
  const made: Peak[] = []
  let node: Peak = { height: 0, hash: leaf }
  for (let left = peaks.at(-1); left?.height === node.height; left = peaks.at(-1)) {
    peaks.pop()
    node = { height: node.height + 1, hash: nodeHash(left.hash, node.hash) }
    made.push(node)
  }
  peaks.push(node)
  return made
}

/** A subtree of 256^level leaves is a hash of that level. */
function noteHash(upper: Upper[], { height, hash }: Peak): void {
  if (height % 8 !== 0) return
  const above = height / 8 - 1
  upper[above] ??= { index: 0, hashes: [] }
  upper[above].hashes.push(hash)
}

/** Compares the hashes of a level with its tile, and goes on to the next tile. */
async function compare(read: ReadFile, level: number, own: Upper): Promise<void> {
  const tile = { level, index: own.index, width: own.hashes.length }
  const hashes = await readHashes(read, tile)
  const wrong = own.hashes.findIndex((hash, i) => !isEqualBytes(hash, hashes[i] ?? nothing))
  if (wrong !== -1) {
    const first = (own.index * tileWidth + wrong) * leavesUnder(level)
    const last = first + leavesUnder(level) - 1
    const below = tilePath({
      level: level - 1,
      index: tile.index * tileWidth + wrong,
      width: tileWidth,
    })
    throw new TileFault(
      tilePath(tile),
      `hash ${wrong}, of leaves ${first} to ${last}, is not that of ${below}`,
    )
  }
  own.index++
  own.hashes = []
}

function rootOf(peaks: readonly Peak[]): Uint8Array {
  const [last, ...rest] = [...peaks].reverse()
  if (!last) return sha256(nothing)
  return rest.reduce((right, { hash }) => nodeHash(hash, right), last.hash)
}

async function readBottom(read: ReadFile, { index, width }: Tile) {
  const [bundle, hashes] = await Promise.all([
    readTile(read, { level: 'entries', index, width }),
    readHashes(read, { level: 0, index, width }),
  ])
  const entries = entriesIn(bundle.bytes, bundle.width)
  if (!entries) throw new TileFault(bundle.path, `not ${bundle.width} entries of 33 bytes`)
  return { index, entries: entries.slice(0, width), hashes }
}

async function readHashes(read: ReadFile, tile: Tile): Promise<Uint8Array[]> {
  const { path, bytes, width } = await readTile(read, tile)
  if (bytes.length !== width * 32) {
    throw new TileFault(path, `${bytes.length} bytes, not ${width} hashes of 32 bytes`)
  }
  return Array.from({ length: tile.width }, (_, i) => bytes.subarray(i * 32, i * 32 + 32))
}

/** A tile; in place of a narrow one that is gone, the whole one that took its place. */
async function readTile(read: ReadFile, tile: Tile) {
  const path = tilePath(tile)
  const bytes = await read(path)
  if (bytes) return { path, bytes, width: tile.width }
  const whole = { ...tile, width: tileWidth }
  const grown = tile.width < tileWidth ? await read(tilePath(whole)) : undefined
  if (grown) return { path: tilePath(whole), bytes: grown, width: tileWidth }
  throw new TileFault(path, 'it is not there')
}

/** Yields the results of `read` in the order of the items, with a few on the way at once. */
async function* inOrder<T, R>(items: Iterable<T>, read: (item: T) => Promise<R>) {
  const pending: Promise<R>[] = []
  for (const item of items) {
    const one = read(item)
    // An error counts when its turn comes; until then it must not end the process.
    one.catch(() => {})
    pending.push(one)
    const due = pending.length >= readAhead ? pending.shift() : undefined
    if (due) yield await due
  }
  for (const one of pending) yield await one
}
