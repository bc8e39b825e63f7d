/** Checks the content of embedding requests. */
import type { Json } from '../kernel/canonical.ts'
import { isSet, type JsonObject } from '../kernel/json-object.ts'
import { refuseField } from '../kernel/refusal.ts'
import type { Model } from './model.ts'

const maxInputs = 2048

/**
 * Checks what an embedding model reads: one text or 1 to 2,048, or token numbers in their place
 * (which a built-in model does not know).
 * @returns how many inputs there are, and how many tokens if they came as numbers.
 * @throws Refusal 'invalid_request'
 */
export function checkEmbedding(
  model: Model,
  body: JsonObject,
): { inputs: number; tokens: number | undefined } {
  checkShape(body)
  const input = body['input']
  if (typeof input === 'string') return { inputs: 1, tokens: undefined }
  if (!Array.isArray(input) || input.length === 0) {
    refuseField('input', 'Send input as a text or as a list of at least one text.')
  }
  if (isTokens(input)) return { inputs: 1, tokens: counted(model, input.length) }
  if (input.length > maxInputs) refuseField('input', `Send at most ${maxInputs} inputs.`)
  if (input.every((item) => typeof item === 'string')) {
    return { inputs: input.length, tokens: undefined }
  }
  let tokens = 0
  input.forEach((item, index) => {
    if (!Array.isArray(item) || item.length === 0 || !isTokens(item)) {
      refuseField(`input[${index}]`, 'Send all inputs as texts, or all as lists of token numbers.')
    }
    tokens += item.length
  })
  return { inputs: input.length, tokens: counted(model, tokens) }
}

function checkShape(body: JsonObject): void {
  const format = body['encoding_format']
  if (isSet(format) && format !== 'float' && format !== 'base64') {
    refuseField('encoding_format', 'Send encoding_format as float or base64.')
  }
  const dimensions = body['dimensions']
  if (!isSet(dimensions)) return
  if (typeof dimensions !== 'number' || !Number.isInteger(dimensions) || dimensions < 1) {
    refuseField('dimensions', 'Send dimensions as an integer above 0.')
  }
}

function counted(model: Model, tokens: number): number {
  if (model.verifiable !== 're-executable') return tokens
  refuseField('input', `${model.id} reads texts only: it has no vocabulary of token numbers.`)
}

function isTokens(input: Json[]): boolean {
  return input.every((item) => typeof item === 'number' && Number.isInteger(item) && item >= 0)
}
