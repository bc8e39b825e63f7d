/** Measures how many bytes a token of a model is, in runs whose upstream reported its usage. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import { Refusal } from '../kernel/refusal.ts'
import { boundOf } from '../models/bound.ts'
import { inputClasses } from '../models/meter.ts'
import type { Model } from '../models/model.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'
import { readAnswer } from './answer.ts'

/** A run whose upstream reported its usage, with what was sent and said. */
export type KeptRun = Pick<RunRow, 'id' | 'model' | 'lines'> & { input: Json; output: Json | null }

/** Bytes and tokens of one run, as they are counted where nothing is reported. */
export type Measurement = {
  inputBytes: number
  inputTokens: number
  outputBytes: number
  outputTokens: number
}

/** Meters of other tokens than those of text. */
const besideText: ReadonlySet<string> = new Set([
  'audio_input',
  'image_input',
  'audio_output',
  'image_output',
  'reasoning',
])

/**
 * `toBody` gives a request as received in OpenAI's shape. Undefined for a run that cannot be
 * measured: sound, images, reasoning, or another shape.
 */
export function measure(
  model: Model,
  { lines, input, output }: KeptRun,
  toBody: (model: Model, input: JsonObject) => JsonObject,
): Measurement | undefined {
  if (!isObject(input) || lines.some(({ meter }) => besideText.has(meter))) return undefined
  const tokensOf = (meters: readonly string[]) =>
    lines.reduce((sum, line) => sum + (meters.includes(line.meter) ? line.quantity : 0), 0)
  const inputTokens = tokensOf(['input', ...inputClasses])
  if (inputTokens === 0) return undefined
  try {
    const { inputBytes } = boundOf(model, toBody(model, input))
    const isChat = model.kind === 'chat' && output !== null
    const outputBytes = isChat ? readAnswer({ choices: output }).outputBytes : 0
    return { inputBytes, inputTokens, outputBytes, outputTokens: tokensOf(['output']) }
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

/** The settings that the runs of a model suggest. */
export type Calibration = {
  runs: number
  /** Bytes of a token over all runs; null without any output. */
  input: number
  output: number | null
  /** The bytes of a token on average, for counting. */
  bytesPerToken: number
  /** The bytes of a token for holds: so few that one run in a hundred, at most, used more. */
  holdBytesPerToken: number
}

/** Derives settings from the measurements of at least one run. */
export function calibrate(measured: readonly Measurement[]): Calibration {
  const sum = (name: keyof Measurement) => measured.reduce((all, one) => all + one[name], 0)
  const [inputBytes, inputTokens] = [sum('inputBytes'), sum('inputTokens')]
  const [outputBytes, outputTokens] = [sum('outputBytes'), sum('outputTokens')]
  const ratios = measured.map((one) => one.inputBytes / one.inputTokens).sort((a, b) => a - b)
  const least = ratios[Math.floor(ratios.length / 100)] ?? 1
  const all = (inputBytes + outputBytes) / (inputTokens + outputTokens)
  return {
    runs: measured.length,
    input: inputBytes / inputTokens,
    output: outputTokens === 0 ? null : outputBytes / outputTokens,
    bytesPerToken: Math.min(16, Math.max(1, Math.round(all * 10) / 10)),
    holdBytesPerToken: Math.min(4, Math.max(1, Math.floor(least))),
  }
}
