/** Checkpoints as notes (c2sp.org/tlog-checkpoint): origin, size and root of a log, a line each. */
import { fromBase64, toBase64 } from './base64.ts'

/** The head of a log, as its note says it. */
export type NoteHead = { origin: string; size: bigint; root: Uint8Array }

/** The text of the note, without signatures. */
export const headText = ({ origin, size, root }: NoteHead): string =>
  `${origin}\n${size}\n${toBase64(root)}\n`

/** Reads the text of a note as a head; undefined if it is none. Further lines are left aside. */
export function parseHead(text: string): NoteHead | undefined {
  const lines = text.split('\n')
  if (lines.pop() !== '' || lines.length < 3 || lines.includes('')) return undefined
  const [origin = '', digits = '', base64 = ''] = lines
  const size = parseSize(digits)
  const root = fromBase64(base64)
  return size === undefined || root?.length !== 32 ? undefined : { origin, size, root }
}

/** A number of leaves in decimal, below 2^63, without leading zeros; undefined for other text. */
export function parseSize(digits: string): bigint | undefined {
  if (!/^(0|[1-9]\d{0,18})$/.test(digits)) return undefined
  const size = BigInt(digits)
  return size < 2n ** 63n ? size : undefined
}
