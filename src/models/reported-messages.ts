/** Reads the usage that servers of Anthropic's Messages report. */
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import type { UsageClass } from './meter.ts'
import { countIn, type ReadSide, type Reported, toReported } from './reported-counts.ts'

/** Reads a `usage` whose `input_tokens` leaves out what was read from a cache or written to it. */
export function readMessages(usage: JsonObject): Reported {
  const plain = countIn(usage['input_tokens'])
  const output = countIn(usage['output_tokens'])
  const read = usage['cache_read_input_tokens'] ?? 0
  const written = usage['cache_creation_input_tokens'] ?? 0
  const split = usage['cache_creation']
  const tools = usage['server_tool_use']
  const searches = isObject(tools) ? (countIn(tools['web_search_requests']) ?? 0) : 0
  const [hour, fiveMinutes] = isObject(split)
    ? [split['ephemeral_1h_input_tokens'] ?? 0, split['ephemeral_5m_input_tokens'] ?? 0]
    : [0, written]
  const all = [read, written, hour, fiveMinutes].map((value) => countIn(value))
  const [reads = 0, writes = 0, hours = 0, minutes = 0] = all
  const isSplit = isObject(split) && usage['cache_creation_input_tokens'] !== undefined
  const total = plain === undefined ? undefined : plain + reads + Math.max(writes, hours + minutes)
  const isWrong = all.includes(undefined) || (isSplit && hours + minutes !== writes)
  const contradicts = total !== undefined && isWrong
  const input: ReadSide = {
    total,
    classes: isWrong
      ? []
      : withUnits([
          ['cache_read', reads],
          ['cache_write', minutes],
          ['cache_write_1h', hours],
        ]),
    contradicts,
  }
  const classes = withUnits([['web_search', searches]])
  return toReported(input, { total: output, classes, contradicts: false })
}

const withUnits = (classes: [UsageClass, number][]): [UsageClass, number][] =>
  classes.filter(([, units]) => units > 0)
