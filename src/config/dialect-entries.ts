/** Reads how a model server departs from its protocol: `[upstreams.dialect]`. */
import type { Dialect, LimitName } from '../models/protocols/dialect.ts'
import { optional, readTable } from './setting.ts'
import { flag, integer, listOf, oneOf, text } from './values.ts'

/** The fields of the table. */
export const dialectFields = {
  limit: optional(
    oneOf('max_tokens', 'max_completion_tokens', 'none'),
    'Name of its limit of an answer; none if it takes no limit. Default: learned.',
  ),
  without: optional(
    listOf(text('name', 'the name of a member, or list.name', /^[\w-]{1,64}(\.[\w-]{1,64})?$/)),
    'Members of requests that it refuses, such as stream_options or messages.name.',
  ),
  developer: optional(flag, 'Whether it knows the role developer. Default: true.'),
  call_id_max: optional(integer('characters', 8, 1024), 'Longest id of a tool call that it takes.'),
  user_max: optional(integer('characters', 8, 1024), 'Longest user that it takes.'),
  bills_cache_writes: optional(
    flag,
    'Whether it caches prompts unasked and bills that as cache_write. Default: false.',
  ),
} as const

/** Names of the limit that a server without one would refuse. */
const allLimits: readonly LimitName[] = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']

/** Undefined after adding to the problems. `kind` is that of the upstream. */
export function readDialect(
  raw: unknown,
  kind: string,
  where: string,
  problems: string[],
): Dialect | undefined {
  const read = readTable(dialectFields, raw, where, problems)
  if (!read) return undefined
  const { limit, without, developer, call_id_max: most, user_max: userMax } = read
  if (limit === 'none' && kind === 'anthropic') {
    problems.push(`${where}.limit: Messages always has max_tokens; leave limit out`)
  }
  return {
    without,
    developer,
    userMax,
    billsCacheWrites: read.bills_cache_writes,
    ...(most === undefined ? {} : { callIds: { most, isExact: false } }),
    ...(limit === 'none' ? { refusedLimits: allLimits } : { limit }),
  }
}
