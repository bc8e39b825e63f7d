/** The words of folded receipts, for the server and the browser. */

/** "17 private runs, 4 models"; without models where they are not all known. */
export function foldWords(runs: number, models: Iterable<string>): string {
  const named = [...new Set(models)]
  const many = runs === 1 ? '1 private run' : `${runs.toLocaleString('en-US')} private runs`
  if (named.length === 0) return many
  return `${many}, ${named.length === 1 ? named[0] : `${named.length} models`}`
}
