/** Reads the files of a log for an audit, and the papers of the auditor. */
import { readdirSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { request } from '../models/upstream/http.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import { WrongAnswer } from '../proof/audit/answers.ts'
import type { Paper } from '../proof/audit/papers.ts'
import { confessionIn, ServiceTrouble } from '../proof/audit/service-view.ts'
import { isQuoteFile } from '../verify/quote.ts'
import type { ReadFile } from '../verify/read-tiles.ts'
import { isReceiptFile } from '../verify/receipt.ts'
import { keyTypes, type NoteKey, parseVkey } from '../verify/signed-note.ts'
import { Exit, exitCodes, say } from './context.ts'
import { readJsonFile } from './read-files.ts'

/** A tile has 8 KiB, a bundle 9, a checkpoint a line for each witness. */
const fileBytes = 64 * 1024

const limits = {
  firstByteMs: 30_000,
  idleMs: 30_000,
  totalMs: 60_000,
  answerBytes: fileBytes,
  streamBytes: fileBytes,
}

/** The files of a log in a folder or behind a URL. @throws Exit 2 for neither */
export function openFiles(place: string): ReadFile {
  if (/^https?:/i.test(place)) return overHttp(place, {})
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory()
  if (isFolder) return inFolder(place)
  throw new Exit(exitCodes.usage, `--tiles ${place} is neither a folder nor an http(s) URL`)
}

/** The files below a URL. @throws Exit 2 unless it is one */
export function overHttp(place: string, headers: Record<string, string>): ReadFile {
  if (!URL.canParse(place)) throw new Exit(exitCodes.usage, `${place} is not an http(s) URL`)
  const { origin, pathname } = new URL(place)
  const prefix = origin + pathname.replace(/\/$/, '')
  const { signal } = new AbortController()
  return async (path) => {
    const url = `${prefix}/${path}`
    try {
      const answer = await request({ url, method: 'GET', headers, signal, limits })
      const pieces: Uint8Array[] = []
      for (let piece = await answer.read(); piece; piece = await answer.read()) pieces.push(piece)
      if (answer.status === 200) return Buffer.concat(pieces)
      const text = answer.status === 503 ? Buffer.concat(pieces).toString() : ''
      const confession = confessionIn(answer.status, text)
      if (confession !== undefined) throw new WrongAnswer(`GET ${url}: ${confession}`)
      if (answer.status === 404 || answer.status === 410) return undefined
      throw new ServiceTrouble(`GET ${url} returned status ${answer.status}. Try again later.`)
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      throw new ServiceTrouble(`GET ${url} failed: ${error.reason}. Try again later.`)
    }
  }
}

/** The files in a folder, as `log export` writes them. */
function inFolder(folder: string): ReadFile {
  return async (path) => {
    const file = join(folder, path)
    try {
      return await readFile(file)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
      throw new ServiceTrouble(`${file} cannot be read: ${code}.`)
    }
  }
}

/** Receipts and quotes, from files and from folders of them. @throws Exit 2 */
export function readPaperFiles(paths: readonly string[]): Paper[] {
  return paths.flatMap((path) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
    if (!isFolder) return [readPaper(path)]
    const names = readdirSync(path).filter((name) => name.endsWith('.json'))
    const papers = names.sort().map((name) => ({ name, ...readJsonFile(join(path, name)) }))
    const known = papers.filter(isKnown)
    const others = papers.length - known.length
    if (others > 0) say(`${path}: ${others} JSON files are neither receipts nor quotes: left out.`)
    return known
  })
}

function readPaper(path: string): Paper {
  const paper = { name: path, ...readJsonFile(path) }
  if (isKnown(paper)) return paper
  throw new Exit(exitCodes.usage, `${path} is neither a receipt nor a quote`)
}

const isKnown = ({ value }: Paper): boolean => isReceiptFile(value) || isQuoteFile(value)

/** Adds a note key of a log, as `name+id+base64`. */
export function addLogKey(text: string, keys: readonly NoteKey[]): NoteKey[] {
  const key = parseVkey(text)
  if (key?.type === keyTypes.ed25519) return [...keys, key]
  throw new InvalidArgumentError('expected note_key of GET /v1/signer: name+id+base64')
}
