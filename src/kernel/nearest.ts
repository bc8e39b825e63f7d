/** The candidate that takes the fewest edits to reach, if that is a likely slip of the hand. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let fewest = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    // Takes at least as many edits as it is longer or shorter: a word without end is not compared.
    if (Math.abs(candidate.length - word.length) >= fewest) continue
    const edits = editDistance(word, candidate)
    if (edits < fewest) {
      fewest = edits
      best = candidate
    }
  }
  return best
}

/** Levenshtein: insertions, deletions and substitutions, each 1. */
export function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(change, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    above = row
  }
  return above[b.length] ?? 0
}

/**
 * The ids nearest to one that is not there, at most three: by all of it or by what stands behind
 * the last slash, of which one may also begin the other.
 */
export function nearestIds(id: string, candidates: readonly string[]): string[] {
  // Each comparison takes the product of both lengths.
  if (id.length > 80) return []
  const [word, end] = [id.toLowerCase(), endOf(id)]
  const most = Math.max(2, Math.floor(end.length / 3))
  return candidates
    .map((candidate) => ({ candidate, edits: editsBetween(word, end, candidate) }))
    .filter(({ edits }) => edits <= most)
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}

const endOf = (id: string): string => id.slice(id.lastIndexOf('/') + 1).toLowerCase()

function editsBetween(word: string, end: string, candidate: string): number {
  const other = endOf(candidate)
  const isStart = end.startsWith(other) || other.startsWith(end)
  if (isStart && Math.min(end.length, other.length) >= 3) return 1
  return Math.min(editDistance(end, other), editDistance(word, candidate.toLowerCase()))
}
