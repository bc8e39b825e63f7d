/** Shows which lines of a text go and come. */

/** Larger parts are compared as sets of lines: a table of all pairs would be too long. */
const pairsMost = 1_000_000

/** The lines that differ alone: those around them may hold what is not for a page. */
export function lineDiff(before: string, after: string): string {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++
  let end = 0
  const most = Math.min(old.length, fresh.length) - start
  while (end < most && old.at(-1 - end) === fresh.at(-1 - end)) end++
  const [a, b] = [old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)]
  if (a.length * b.length > pairsMost) {
    const gone = without(a, b).map((line) => `- ${line}`)
    return [...gone, ...without(b, a).map((line) => `+ ${line}`)].join('\n')
  }
  return walk(a, b, lengthsOf(a, b)).join('\n')
}

/** The lines of one that another does not have, or has less often. */
function without(one: readonly string[], other: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const line of other) left.set(line, (left.get(line) ?? 0) + 1)
  return one.filter((line) => {
    const count = left.get(line) ?? 0
    if (count > 0) left.set(line, count - 1)
    return count === 0
  })
}

/** The longest common part of each pair of ends. */
function lengthsOf(a: readonly string[], b: readonly string[]): Uint32Array[] {
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--) {
    const [row, below] = [table[i], table[i + 1]]
    if (!row || !below) continue
    for (let j = b.length - 1; j >= 0; j--) {
      const longer = Math.max(below[j] ?? 0, row[j + 1] ?? 0)
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : longer
    }
  }
  return table
}

function walk(a: readonly string[], b: readonly string[], lengths: Uint32Array[]): string[] {
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [down, right] = [lengths[i + 1]?.[j] ?? -1, lengths[i]?.[j + 1] ?? -1]
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i++
      j++
    } else if (i < a.length && (j === b.length || down >= right)) lines.push(`- ${a[i++]}`)
    else lines.push(`+ ${b[j++]}`)
  }
  return lines
}
