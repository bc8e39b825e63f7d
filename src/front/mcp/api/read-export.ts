/** Reads a download as what a tool can answer with: the file, or its first lines. */
import type { Static } from '@sinclair/typebox'
import type { exportedShape } from '../shapes.ts'

/** The most bytes of one answer: what a model is given has to be read by it. */
const bytesMax = 262_144

/** The file as far as it fits, in whole lines; the rest is not written. */
export async function readExport(answer: Response): Promise<Static<typeof exportedShape>> {
  const { text, isWhole } = await beginningOf(answer)
  return {
    object: 'usage.export',
    content_type: answer.headers.get('content-type') ?? '',
    as_of: Number(answer.headers.get('x-as-of')),
    text,
    is_whole: isWhole,
  }
}

async function beginningOf(answer: Response): Promise<{ text: string; isWhole: boolean }> {
  const reader = answer.body?.getReader()
  const pieces: Uint8Array[] = []
  let bytes = 0
  while (reader && bytes <= bytesMax) {
    const { value, done } = await reader.read()
    if (done) return { text: textOf(pieces), isWhole: true }
    pieces.push(value)
    bytes += value.byteLength
  }
  // Closing it frees its place among the exports of the account.
  await reader?.cancel()
  const start = Buffer.concat(pieces).subarray(0, bytesMax)
  return { text: textOf([start.subarray(0, start.lastIndexOf(10) + 1)]), isWhole: false }
}

const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString('utf8')
