/** Writes a log as files that any web server can serve, and checks them against its signed head. */
import type { Deps } from '../../app/deps-port.ts'
import { toHex } from '../../kernel/hex.ts'
import { type NoteHead, parseHead } from '../../verify/checkpoint-note.ts'
import {
  entryBytes,
  levelsOf,
  type Tile,
  tilePath,
  tilesOf,
  tileWidth,
} from '../../verify/log-tiles.ts'
import { isEqualBytes } from '../../verify/merkle.ts'
import { type ReadFile, readTiles, TileFault } from '../../verify/read-tiles.ts'
import { parseNote } from '../../verify/signed-note.ts'
import type { LogSpan } from './logs.ts'
import { cosignedNote, type NotedHead, storedHead } from './notes.ts'
import { readTile } from './tiles.ts'

/** The folder of a log, whose files are replaced whole. */
export type LogFolder = {
  read: ReadFile
  /** Whether a file of so many bytes is there. */
  has(path: string, bytes: number): boolean
  write(path: string, bytes: Uint8Array): void
  /** Deletes the narrow tiles that stood in for a whole one. */
  dropNarrow(path: string): void
}

export type LogExport = {
  origin: string
  size: number
  /** Tiles and bundles that were new. */
  written: number
}

/** A folder that cannot take this log; the message says what to do. */
export class ExportRefusal extends Error {}

export type ExportDeps = Pick<
  Deps,
  'tiles' | 'checkpoints' | 'cosignatures' | 'witnesses' | 'noteSigner'
>

/**
 * Brings a folder up to the published head: writes what is missing, reads all files again up to the
 * signed root, and only then replaces the checkpoint. What a run that was killed wrote stays good.
 * Undefined while no head of the log was signed. @throws ExportRefusal
 */
export async function exportLog(
  deps: ExportDeps,
  log: LogSpan,
  folder: LogFolder,
): Promise<LogExport | undefined> {
  const head = await storedHead(deps, log)
  if (!head) return undefined
  const before = await headIn(folder, head)
  const grown: string[] = []
  let written = 0
  for (const tile of filesOf(head.size)) {
    const path = tilePath(tile)
    if (tile.width === tileWidth) grown.push(path)
    const stride = tile.level === 'entries' ? entryBytes + 2 : 32
    if (folder.has(path, tile.width * stride)) continue
    folder.write(path, await readTile(deps, log, tile))
    written++
  }
  await assertWhole(folder, head, before)
  folder.write('checkpoint', new TextEncoder().encode(await cosignedNote(deps, head)))
  for (const path of grown) folder.dropNarrow(path)
  return { origin: head.issuer, size: head.size, written }
}

function* filesOf(size: number): Generator<Tile> {
  yield* tilesOf('entries', size)
  for (const level of levelsOf(size)) yield* tilesOf(level, size)
}

/** The head that the folder has; undefined for a new one. @throws ExportRefusal */
async function headIn(folder: LogFolder, next: NotedHead): Promise<NoteHead | undefined> {
  const bytes = await folder.read('checkpoint')
  if (!bytes) return undefined
  const head = parseHead(parseNote(new TextDecoder().decode(bytes))?.text ?? '')
  if (!head) {
    throw new ExportRefusal(
      'checkpoint is not a signed note. Name an empty folder, or one of a log.',
    )
  }
  if (head.origin !== next.issuer) {
    const why = `The folder has the log of ${head.origin}, not of ${next.issuer}.`
    throw new ExportRefusal(`${why} Name another folder.`)
  }
  if (head.size <= BigInt(next.size)) return head
  const why = `The folder has a signed head of ${head.size} leaves, the database of ${next.size}`
  throw new ExportRefusal(`${why}: it may be an old copy. Run counterfoil doctor.`)
}

/** All files agree with the head, and with the head that was there before. @throws ExportRefusal */
async function assertWhole(
  folder: LogFolder,
  { size, root }: NotedHead,
  before: NoteHead | undefined,
): Promise<void> {
  const earlier = new Map<number, Uint8Array>()
  const visit = {
    sizes: new Set(before ? [Number(before.size)] : []),
    root: (at: number, found: Uint8Array) => void earlier.set(at, found),
  }
  const found = await readTiles(size, folder.read, visit).catch((error: unknown) => {
    if (!(error instanceof TileFault)) throw error
    const what = 'Delete this file and export again; if it comes back, run counterfoil doctor'
    throw new ExportRefusal(`${error.message} ${what}.`)
  })
  const what = 'The checkpoint was not replaced. Run counterfoil doctor.'
  if (!isEqualBytes(found, root)) {
    const why = `The files have the root ${toHex(found)} at ${size} leaves, not the signed`
    throw new ExportRefusal(`${why} ${toHex(root)}. ${what}`)
  }
  const old = before && earlier.get(Number(before.size))
  if (before && old && !isEqualBytes(old, before.root)) {
    const why = `The log does not continue the ${before.size} leaves that the folder has signed`
    throw new ExportRefusal(`${why}. ${what}`)
  }
}
