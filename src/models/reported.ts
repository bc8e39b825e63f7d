/** Reads the usage that model servers report, in the three shapes they write it. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import type { UsageClass } from './meter.ts'
import {
  countIn,
  nothing,
  numberIn,
  type ReadSide,
  type Reported,
  toReported,
  wholeOf,
} from './reported-counts.ts'
import { readMessages } from './reported-messages.ts'

/** The protocols whose `usage` can be read. */
export type UsageShape = 'chat' | 'responses' | 'messages'

/** What a shape calls the members of its two sides. */
type Side = { total: string; details: string; classes: readonly [name: string, as: UsageClass][] }

const inputDetails: Side['classes'] = [
  ['cached_tokens', 'cache_read'],
  ['cache_write_tokens', 'cache_write'],
  ['audio_tokens', 'audio_input'],
  ['image_tokens', 'image_input'],
]

const outputDetails: Side['classes'] = [
  ['reasoning_tokens', 'reasoning'],
  ['audio_tokens', 'audio_output'],
  ['image_tokens', 'image_output'],
]

const sides: Record<'chat' | 'responses', { input: Side; output: Side }> = {
  chat: {
    input: { total: 'prompt_tokens', details: 'prompt_tokens_details', classes: inputDetails },
    output: {
      total: 'completion_tokens',
      details: 'completion_tokens_details',
      classes: outputDetails,
    },
  },
  responses: {
    input: { total: 'input_tokens', details: 'input_tokens_details', classes: inputDetails },
    output: { total: 'output_tokens', details: 'output_tokens_details', classes: outputDetails },
  },
}

/** Reads a `usage` member; a value of another type says nothing. */
export function readUsage(shape: UsageShape, usage: Json | undefined): Reported {
  if (!isObject(usage)) return nothing
  if (shape === 'messages') return readMessages(usage)
  const { input: read, output: written } = sides[shape]
  const input = readSide(usage, read)
  const apart = input.contradicts ? readApart(usage, read, written) : undefined
  if (apart) return toReported(apart, readSide(usage, written))
  return toReported(input, readSide(usage, written, read.total))
}

/**
 * Reads the input of a server that leaves cache tokens out of `prompt_tokens`, as Anthropic does,
 * but has them in `total_tokens`: they would otherwise count as hidden output.
 */
function readApart(usage: JsonObject, read: Side, written: Side): ReadSide | undefined {
  const details = usage[read.details]
  const [plain, output] = [countIn(usage[read.total]), countIn(usage[written.total])]
  if (plain === undefined || output === undefined || !isObject(details)) return undefined
  let all = plain
  for (const [name] of read.classes) all += countIn(details[name]) ?? 0
  if (countIn(usage['total_tokens']) !== all + output) return undefined
  return judged(
    all,
    read.classes.map(([name, as]) => [as, details[name]]),
  )
}

/**
 * What was written, reasoning included: some servers leave that out of `completion_tokens` and in
 * `total_tokens`.
 */
function withHidden(
  usage: JsonObject,
  written: number | undefined,
  read: string | undefined,
): number | undefined {
  if (read === undefined || written === undefined) return written
  const [all, input] = [numberIn(usage['total_tokens']), numberIn(usage[read])]
  if (all === undefined || input === undefined) return written
  return Math.max(written, all - input)
}

function readSide(usage: JsonObject, { total, details, classes }: Side, hidden?: string): ReadSide {
  const sum = withHidden(usage, numberIn(usage[total]), hidden)
  const given = usage[details]
  if (sum === undefined || !isObject(given)) {
    return { total: sum && wholeOf(sum), classes: [], contradicts: false }
  }
  return judged(
    sum,
    classes.map(([name, as]) => [as, given[name]]),
  )
}

/**
 * Details are believed together or not at all: each a count, all of them within their total. A
 * fraction is rounded up in its class.
 */
function judged(total: number, details: [UsageClass, Json | undefined][]): ReadSide {
  const classes: [UsageClass, number][] = []
  let [sum, inClasses] = [0, 0]
  let isWrong = false
  for (const [as, value] of details) {
    if (value === undefined || value === null || value === 0) continue
    const units = numberIn(value)
    if (units === undefined) {
      isWrong = true
      continue
    }
    sum += units
    const whole = wholeOf(units)
    inClasses += whole
    classes.push([as, whole])
  }
  if (!isWrong && wholeOf(sum) <= wholeOf(total)) {
    const rest = wholeOf(Math.max(0, total - sum))
    return { total: rest + inClasses, classes, contradicts: false }
  }
  const apart = { total: wholeOf(total) + inClasses, classes }
  return { total: wholeOf(total), classes: [], contradicts: true, apart }
}
