/** Folds private receipts side by side into one line. */
import type { SeenReceipt } from './recent.ts'

/** A line of the explorer's list. */
export type Line =
  | { is: 'public'; seen: SeenReceipt }
  /** Newest first; at least one. */
  | { is: 'private'; runs: readonly SeenReceipt[] }

/** Public receipts as they are, in the order of the log, and what lies between them folded. */
export function foldPrivate(items: readonly SeenReceipt[]): Line[] {
  const lines: Line[] = []
  let folded: SeenReceipt[] | undefined
  for (const seen of items) {
    if (seen.shown) {
      lines.push({ is: 'public', seen })
      folded = undefined
    } else if (folded) folded.push(seen)
    else {
      folded = [seen]
      lines.push({ is: 'private', runs: folded })
    }
  }
  return lines
}
