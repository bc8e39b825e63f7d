/** Reads the usage that model servers report, in the three shapes they write it. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import type { UsageClass, UsageClasses } from './meter.ts'

/** The protocols whose `usage` can be read. */
export type UsageShape = 'chat' | 'responses' | 'messages'

/** The usage that a model server reports. All of it is still to be checked. */
export type UsageReport = {
  /** All that was read, classes included; undefined when it did not say, or no count. */
  inputTokens: number | undefined
  outputTokens: number | undefined
  /** The classes with at least one unit. */
  classes: UsageClasses | undefined
  /** The sides whose details cannot be true. */
  contradicts: { input: boolean; output: boolean }
  /** How else a side that contradicts itself can be read. */
  apart?: { input?: Reading | undefined; output?: Reading | undefined }
}

/** One way to read a side of a report. */
export type Reading = { total: number; classes: [UsageClass, number][] }

/** A report that says nothing. */
const nothing: UsageReport = {
  inputTokens: undefined,
  outputTokens: undefined,
  classes: undefined,
  contradicts: { input: false, output: false },
}

/** One side of a report. `apart`: the same with its details beside its total. */
type ReadSide = {
  total: number | undefined
  classes: [UsageClass, number][]
  contradicts: boolean
  apart?: Reading | undefined
}

const noClasses: [UsageClass, number][] = []

/** The names that a shape has for the members of its two sides. */
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
export function readUsage(shape: UsageShape, usage: Json | undefined): UsageReport {
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
 * The output, reasoning included: some servers leave that out of `completion_tokens` and in
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
    return { total: sum && wholeOf(sum), classes: noClasses, contradicts: false }
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

/** Reads a `usage` whose `input_tokens` leaves out what was read from a cache or written to it. */
function readMessages(usage: JsonObject): UsageReport {
  const tools = usage['server_tool_use']
  const searches = isObject(tools) ? (countIn(tools['web_search_requests']) ?? 0) : 0
  const classes = withUnits([['web_search', searches]])
  const total = countIn(usage['output_tokens'])
  return toReported(readInput(usage), { total, classes, contradicts: false })
}

/** A split of what was written that does not add up loses to its total. */
function readInput(usage: JsonObject): ReadSide {
  const plain = countIn(usage['input_tokens'])
  if (plain === undefined) return { total: undefined, classes: [], contradicts: false }
  const split = usage['cache_creation']
  const { ephemeral_1h_input_tokens: ofHour, ephemeral_5m_input_tokens: ofMinutes } = isObject(
    split,
  )
    ? split
    : {}
  const said = [usage['cache_read_input_tokens'], usage['cache_creation_input_tokens']]
  const counts = [...said, ofHour, ofMinutes].map((value) => countIn(value ?? 0))
  const [reads = 0, writes = 0, hours = 0, minutes = 0] = counts
  const isWhole = !counts.includes(undefined)
  const inSplit = hours + minutes
  const hasTotal = typeof said[1] === 'number'
  const bySplit = {
    total: plain + reads + inSplit,
    classes: cached(reads, minutes, hours),
  }
  // One of zeros alone is how servers without one write it.
  const isSplit = inSplit > 0 && (!hasTotal || inSplit === writes)
  if (isWhole && isSplit) return { ...bySplit, contradicts: false }
  const byTotal = { total: plain + reads + writes, classes: cached(reads, writes, 0) }
  if (isWhole && inSplit === 0) return { ...byTotal, contradicts: false }
  const apart = inSplit > 0 ? bySplit : undefined
  return { ...byTotal, contradicts: true, apart }
}

const cached = (reads: number, minutes: number, hours: number): [UsageClass, number][] =>
  withUnits([
    ['cache_read', reads],
    ['cache_write', minutes],
    ['cache_write_1h', hours],
  ])

const withUnits = (classes: [UsageClass, number][]): [UsageClass, number][] =>
  classes.filter(([, units]) => units > 0)

/** Both sides together. */
function toReported(input: ReadSide, output: ReadSide): UsageReport {
  const hasClasses = input.classes.length + output.classes.length > 0
  const isSound = !input.contradicts && !output.contradicts
  const reported: UsageReport = {
    inputTokens: input.total,
    outputTokens: output.total,
    classes: hasClasses ? Object.fromEntries([...input.classes, ...output.classes]) : undefined,
    contradicts: isSound
      ? nothing.contradicts
      : { input: input.contradicts, output: output.contradicts },
  }
  if (input.apart || output.apart) reported.apart = { input: input.apart, output: output.apart }
  return reported
}

/** A reported count: no sign, within exact integers. A fraction of a token is a whole one. */
export function countIn(value: Json | undefined): number | undefined {
  const number = numberIn(value)
  return number === undefined ? undefined : wholeOf(number)
}

/** Returns the same before it is rounded up. */
function numberIn(value: Json | undefined): number | undefined {
  if (typeof value !== 'number' || !(value >= 0) || value > Number.MAX_SAFE_INTEGER)
    return undefined
  // -0 passes for a count; it must not stay one.
  return value + 0
}

/** Sums of fractions are off by less than this. */
const noise = 1e-6

const wholeOf = (number: number): number =>
  Number.isInteger(number) ? number : Math.max(0, Math.ceil(number - noise))
