import {
  append,
  emptyFrontier,
  hashIn,
  homeOf,
  type Leaf,
  rootOf,
  type StoredLeaf,
} from '../../src/proof/log/tree.ts'
import {
  bundleOf,
  leavesUnder,
  levelsOf,
  tilePath,
  tilesOf,
  tileWidth,
} from '../../src/verify/log-tiles.ts'
import type { LeafKind } from '../../src/verify/merkle.ts'
import type { ReadFile } from '../../src/verify/read-tiles.ts'

/** Files by path, and how a reader asks for them. */
export type Files = Map<string, Uint8Array>
export const readIn =
  (files: Files): ReadFile =>
  async (path) =>
    files.get(path)

/** Every entry another one. */
export const plainLeaf = (i: number): Leaf => {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, i)
  return { kind: (i % 5) as LeafKind, digest }
}

/** All tiles and bundles of a log, made from the rows that a database has of it. */
export function filesOf(size: number, leafAt = plainLeaf): { files: Files; root: Uint8Array } {
  const leaves = Array.from({ length: size }, (_, i) => leafAt(i))
  const { stored, frontier } = append(emptyFrontier, leaves)
  const files: Files = new Map()
  for (const tile of tilesOf('entries', size)) {
    const from = tile.index * tileWidth
    files.set(tilePath(tile), bundleOf(leaves.slice(from, from + tile.width)))
  }
  for (const level of levelsOf(size)) {
    for (const tile of tilesOf(level, size)) {
      const hashes = Array.from({ length: tile.width }, (_, i) =>
        subtree(stored, level, tile.index * tileWidth + i),
      )
      files.set(tilePath(tile), Buffer.concat(hashes))
    }
  }
  return { files, root: rootOf(frontier) }
}

function subtree(stored: readonly StoredLeaf[], level: number, idx: number): Uint8Array {
  const place = { level: Math.log2(leavesUnder(level)), idx }
  const home = stored[homeOf(place)]
  if (!home) throw new Error('no such subtree')
  return hashIn(home, place)
}
