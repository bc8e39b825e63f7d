/** Reads the usage that servers of Anthropic's Messages report. */
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import type { UsageClass } from './meter.ts'
import { countIn, type ReadSide, type Reported, toReported } from './reported-counts.ts'

/** Reads a `usage` whose `input_tokens` leaves out what was read from a cache or written to it. */
export function readMessages(usage: JsonObject): Reported {
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
