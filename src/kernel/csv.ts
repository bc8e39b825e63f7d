/**
 * A text as a field of a CSV file, quoted where RFC 4180 asks for it. One that a spreadsheet would
 * run as a formula gets an apostrophe in front, which spreadsheets take for "this is text".
 */
export const textField = (text: string): string => quote(isFormula(text) ? `'${text}` : text)

/** A number, a time or an id of ours: nothing in it has a meaning in CSV. */
export const plainField = (value: string | number | bigint): string => String(value)

export const toLine = (fields: readonly string[]): string => `${fields.join(',')}\r\n`

/** Behind spaces and in full width too: some spreadsheets take those for the same. */
const isFormula = (text: string): boolean => /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text)

const quote = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
