/** Reads an id that is typed whole or in part. */

/** The first and last characters of an id without its prefix; an empty `end` fits every id. */
export type IdPart = { start: string; end: string }

const chars = 26
const form = /^(?:(?:run|rcpt)_)?([0-9a-hjkmnp-tv-z]{0,26})(?:…|\.\.\.)?([0-9a-hjkmnp-tv-z]{0,26})$/

/**
 * Reads the id of a run or of its receipt, which differ in their prefixes alone: whole, by its
 * beginning, or by both ends as pages shorten it. Undefined for any other text.
 */
export function readIdPart(text: string): IdPart | undefined {
  const [, start, end] = form.exec(text.trim().toLowerCase()) ?? []
  if (start === undefined || end === undefined) return undefined
  const length = start.length + end.length
  return length > 0 && length <= chars ? { start, end } : undefined
}

/** The least and the last id of a run that begins so. */
export const runIdsFrom = (start: string): { least: string; last: string } => ({
  least: `run_${start.padEnd(chars, '0')}`,
  last: `run_${start.padEnd(chars, 'z')}`,
})

/** The one run that is named, if it is named whole. */
export const wholeRunId = ({ start, end }: IdPart): string | undefined =>
  start.length === chars && end === '' ? `run_${start}` : undefined
