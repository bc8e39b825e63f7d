/** Names the tiles of a log (c2sp.org/tlog-tiles): 256 hashes of one level, fewer at its end. */

/** The most hashes or entries of a tile. */
export const tileWidth = 256

/** A tile of hashes, or a bundle of entries, which has as many as the tile of level 0. */
export type Tile = {
  level: number | 'entries'
  /** Its number within the level. */
  index: number
  /** How many hashes it holds, 1 to 256. */
  width: number
}

/** Digits of a tile number in groups of three, all but the last behind an x. */
function numberPath(index: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  return groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/')
}

/** The path of a tile below the prefix of its log: `tile/0/x001/067.p/12`. */
export function tilePath({ level, index, width }: Tile): string {
  return `tile/${level}/${numberPath(index)}${width === tileWidth ? '' : `.p/${width}`}`
}

/** Reads a path as {@link tilePath} writes it; undefined for any other text. */
export function parseTilePath(path: string): Tile | undefined {
  const form = /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/(\d{1,3}))?$/
  const [, level = '', number = '', partial] = form.exec(path) ?? []
  const tile: Tile = {
    level: level === 'entries' ? level : Number(level),
    index: Number(number.replace(/[x/]/g, '')),
    width: partial === undefined ? tileWidth : Number(partial),
  }
  // Writing it again refuses leading zeros; a partial tile has at least one hash.
  return tile.width > 0 && tilePath(tile) === path && isLevel(tile) ? tile : undefined
}

const isLevel = ({ level }: Tile): boolean => level === 'entries' || level <= 63

/** How many leaves a hash of a level covers. */
export const leavesUnder = (level: number): number => tileWidth ** level

/** Whether a log of `size` leaves has all hashes of a tile. */
export function isTileOf({ level, index, width }: Tile, size: number): boolean {
  const hashes = Math.floor(size / leavesUnder(level === 'entries' ? 0 : level))
  return index * tileWidth + width <= hashes
}

/** The tiles of a level of a log with `size` leaves, from number `first` on. */
export function* tilesOf(level: Tile['level'], size: number, first = 0): Generator<Tile> {
  const hashes = Math.floor(size / leavesUnder(level === 'entries' ? 0 : level))
  for (let index = first; index * tileWidth < hashes; index++) {
    yield { level, index, width: Math.min(tileWidth, hashes - index * tileWidth) }
  }
}

/** The levels that a log of `size` leaves has tiles of. */
export function levelsOf(size: number): number[] {
  const levels: number[] = []
  for (let level = 0; leavesUnder(level) <= size; level++) levels.push(level)
  return levels
}

/** The bytes of a log entry: the kind and the digest. */
export const entryBytes = 33

/** A bundle: each entry behind its length in two bytes, as the standard has it. */
export function bundleOf(entries: readonly { kind: number; digest: Uint8Array }[]): Uint8Array {
  const bytes = new Uint8Array(entries.length * (2 + entryBytes))
  entries.forEach(({ kind, digest }, i) => {
    const at = i * (2 + entryBytes)
    bytes[at + 1] = entryBytes
    bytes[at + 2] = kind
    bytes.set(digest, at + 3)
  })
  return bytes
}

/** The entries of a bundle; undefined unless it holds exactly `width` of them. */
export function entriesIn(bytes: Uint8Array, width: number): Uint8Array[] | undefined {
  const stride = 2 + entryBytes
  if (bytes.length !== width * stride) return undefined
  const entries: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += stride) {
    if (bytes[at] !== 0 || bytes[at + 1] !== entryBytes) return undefined
    entries.push(bytes.subarray(at + 2, at + stride))
  }
  return entries
}
