/** Proofs as files (c2sp.org/tlog-proof): an index, a path and the checkpoint that it leads to. */
import { fromBase64, toBase64 } from './base64.ts'
import { type NoteHead, parseHead, parseSize } from './checkpoint-note.ts'
import { type Note, parseNote } from './signed-note.ts'

const header = 'c2sp.org/tlog-proof@v1'
/** Enough for a log of 2^63 leaves. */
const maxPath = 63

export type TlogProof = {
  index: bigint
  /** From the sibling of the leaf to the child of the root. */
  path: Uint8Array[]
  note: Note
  head: NoteHead
}

/** Writes a proof; `checkpoint` is a whole signed note. */
export const tlogProofText = (
  index: bigint | number,
  path: readonly Uint8Array[],
  checkpoint: string,
): string =>
  `${header}\nindex ${index}\n${path.map((h) => `${toBase64(h)}\n`).join('')}\n${checkpoint}`

/** Reads a proof; undefined if it is none. An `extra` line is left aside: nothing signs it. */
export function parseTlogProof(text: string): TlogProof | undefined {
  // Before the first empty line there is the proof, behind it the checkpoint.
  const end = text.indexOf('\n\n')
  if (end === -1) return undefined
  const [first, ...rest] = text.slice(0, end).split('\n')
  if (rest[0]?.startsWith('extra ')) {
    if (fromBase64(rest[0].slice(6)) === undefined) return undefined
    rest.shift()
  }
  const [indexLine = '', ...lines] = rest
  const index = indexLine.startsWith('index ') ? parseSize(indexLine.slice(6)) : undefined
  const path = lines.flatMap((line) => hashIn(line) ?? [])
  const note = parseNote(text.slice(end + 2))
  const head = note && parseHead(note.text)
  if (first !== header || index === undefined || !note || !head) return undefined
  if (path.length !== lines.length || path.length > maxPath) return undefined
  return { index, path, note, head }
}

/** A hash in base64; undefined unless it has 32 bytes. */
export function hashIn(line: string): Uint8Array | undefined {
  const bytes = fromBase64(line)
  return bytes?.length === 32 ? bytes : undefined
}
