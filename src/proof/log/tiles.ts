/** Serves the log as tiles (c2sp.org/tlog-tiles): hashes and entries that never change. */
import type { Deps } from '../../app/deps-port.ts'
import { bundleOf, isTileOf, parseTilePath, type Tile } from '../../verify/log-tiles.ts'
import { type DamageDeps, readSound } from './damage.ts'
import type { LogSpan } from './logs.ts'

/** The source of tiles. */
export type TileDeps = Pick<Deps, 'tiles' | 'checkpoints'> & DamageDeps

/**
 * The bytes of a tile of a log by its path below the log's prefix; undefined if there is no such
 * tile under the latest checkpoint: unsigned leaves may yet become others.
 * @throws Refusal `log_damaged`
 */
export async function tileAt(
  deps: TileDeps,
  log: LogSpan,
  path: string,
): Promise<Uint8Array | undefined> {
  const tile = parseTilePath(path)
  if (!tile) return undefined
  const signed = await deps.checkpoints.latest(log.origin)
  if (!signed || !isTileOf(tile, signed.size)) return undefined
  return readSound(deps, log, () => readTile(deps, log, tile))
}

/** The bytes of a tile that is there. @throws LeafDamage */
export async function readTile(
  { tiles }: Pick<Deps, 'tiles'>,
  log: LogSpan,
  tile: Tile,
): Promise<Uint8Array> {
  const { level, index, width } = tile
  if (level === 'entries') return bundleOf(await tiles.entries(log, { index, width }))
  const bytes = new Uint8Array(width * 32)
  const hashes = await tiles.hashes(log, { level, index, width })
  hashes.forEach((hash, i) => {
    bytes.set(hash, i * 32)
  })
  return bytes
}
