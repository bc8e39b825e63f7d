/**
 * Numbers in errors. Some clients look for a status in the text of an error and retry at 429 or
 * 5xx, so no number in one may stand there as three digits that begin with 4 or 5.
 */

const status = /(?<!\d)[45]\d\d(?!\d)/

/** Whether a text has a number that could be taken for the status of an error. */
export const looksLikeStatus = (text: string): boolean => status.test(text)

/** A decimal with another zero where a part of it looks like a status: `0.402` as `0.4020`. */
export function notAStatus(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.')
  const padded = looksLikeStatus(whole) ? whole.replace(status, '0$&') : whole
  if (fraction === undefined) return padded
  return `${padded}.${looksLikeStatus(fraction) ? `${fraction}0` : fraction}`
}

/** A count with commas, without them where a group looks like a status: `1,100`, `1402`. */
export function toCount(count: number): string {
  const grouped = count.toLocaleString('en-US')
  return looksLikeStatus(grouped) ? notAStatus(String(count)) : grouped
}
