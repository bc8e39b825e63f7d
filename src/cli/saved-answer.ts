/** Reads an answer that a client saved, to be checked beside its receipt file as the output. */
import type { Json } from '../kernel/canonical.ts'
import type { Hex } from '../kernel/hex.ts'
import { readingsOf } from '../runs/saved-answer.ts'
import { checkContent } from '../verify/checks.ts'
import { isObject, type Receipt } from '../verify/receipt.ts'
import { Exit, exitCodes } from './context.ts'
import { readText } from './read-files.ts'

/** Largest saved answer, in bytes. */
const answerBytes = 64 * 1024 * 1024

/**
 * The disclosures of a receipt file with a saved answer as the output: in the reading that the
 * receipt commits to, if one is; the checks that follow decide. @throws Exit 2
 */
export function withAnswer(file: unknown, path: string): object {
  const readings = readingsOf(readText(path, answerBytes))
  if (readings.length === 0) throw new Exit(exitCodes.usage, `${path} is not an answer of a model`)
  const disclosures = isObject(file) && isObject(file['disclosures']) ? file['disclosures'] : {}
  const { output } = disclosures
  const salt = isObject(output) ? output['salt'] : undefined
  if (!isObject(output) || typeof salt !== 'string') {
    const why = 'the receipt file has no salt of its output: get it with a key of its account'
    throw new Exit(exitCodes.usage, why)
  }
  const { receipt } = file as { receipt: Receipt }
  const fits = (value: Json): boolean =>
    isObject(receipt?.content) &&
    checkContent('output', receipt.content, { output: { salt: salt as Hex, value } }).status ===
      'pass'
  const value = readings.find(fits) ?? readings[0]
  return { ...disclosures, output: { ...output, value } }
}
