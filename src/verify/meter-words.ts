/** The meters of a receipt, and their names on pages. */

const inputWords: Readonly<Record<string, string>> = {
  input: 'Input',
  cache_read: 'Cached input',
  cache_write: 'Cache write',
  cache_write_1h: 'Cache write (1 hour)',
  audio_input: 'Audio input',
  image_input: 'Image input',
}
const outputWords: Readonly<Record<string, string>> = {
  output: 'Output',
  reasoning: 'Reasoning',
  audio_output: 'Audio output',
  image_output: 'Image output',
}
const words: Readonly<Record<string, string>> = {
  ...inputWords,
  ...outputWords,
  web_search: 'Web searches',
  request: 'Request',
}

/** The meters of what a run read, and of what it wrote. */
export const inputMeters: ReadonlySet<string> = new Set(Object.keys(inputWords))
export const outputMeters: ReadonlySet<string> = new Set(Object.keys(outputWords))

/** A meter at the start of a line. One that is not known here, of a later version, as it is. */
export const meterWords = (meter: string): string =>
  Object.hasOwn(words, meter) ? (words[meter] ?? meter) : meter

/** {@link meterWords} for use within a sentence. */
export const meterInText = (meter: string): string =>
  Object.hasOwn(words, meter) ? meterWords(meter).toLowerCase() : meter

/** Whether a unit is a call, which has a price of its own; others are told a million. */
export const isCall = (meter: string): boolean => meter === 'web_search' || meter === 'request'
