/** Keeps the list of lost receipts in the data folder, one JSON object a line. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../../storage/db/files/whole-file.ts'
import type { LostReceipt } from '../lost.ts'

export const lostPathOf = (folder: string): string => join(folder, 'lost-receipts.jsonl')

/** Replaces the list (0600). `name` is of this process alone. @throws what the disk says. */
export async function writeLost(
  folder: string,
  lost: readonly LostReceipt[],
  name: string,
): Promise<string> {
  const path = lostPathOf(folder)
  const lines = lost.map((receipt) => `${JSON.stringify(receipt)}\n`)
  await replaceFile(path, lines.join(''), `new-${name}`)
  return path
}

/** How many receipts a data folder lists as lost; undefined without a list. */
export function countLost(folder: string): number | undefined {
  const path = lostPathOf(folder)
  if (!existsSync(path)) return undefined
  return readFileSync(path, 'utf8').split('\n').filter(Boolean).length
}
