/** Reads the filters of a list of runs from its address. */
import { readPeriod } from '../../billing/usage/range.ts'
import type { Millis } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import { readChoice, readText, withoutEmpty } from '../../web/http/query.ts'
import { runStatuses } from '../run.ts'
import { readTag, type ShownFilter, tagText } from '../shown-run.ts'

/** The fields of the filter form, as they stand in an address. */
const filterNames = [
  ...['status', 'model', 'key', 'tag', 'from', 'to', 'last', 'id', 'sort', 'limit'],
]

/** What narrows the list to the time that ends now. */
export const spans = ['24h', '7d', '30d'] as const
const spanMs = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const

/**
 * Reads what a list of runs is narrowed by; a field that was left empty narrows nothing.
 * @throws Refusal 'invalid_request'
 */
export function readFilter(query: URLSearchParams, now: Millis): ShownFilter {
  const filled = withoutEmpty(query)
  const keyId = readText(filled, 'key')
  if (keyId !== undefined && !isId('key', keyId)) {
    refuse('invalid_request', { param: 'key', message: '"key" must be the id of a key.' })
  }
  const tag = readText(filled, 'tag')
  const { from, to } = readPeriod({ from: readText(filled, 'from'), to: readText(filled, 'to') })
  const span = readChoice(filled, 'last', spans)
  return {
    status: readChoice(filled, 'status', runStatuses),
    model: readText(filled, 'model'),
    keyId,
    tag: tag === undefined ? undefined : readTag(tag),
    from: from ?? (span && now - spanMs[span] * 3_600_000),
    to: Number.isFinite(to) ? to : undefined,
  }
}

/** The filter of an address as the query of another one: what was filled in, and nothing else. */
export function filterQuery(query: URLSearchParams): URLSearchParams {
  const kept = filterNames.flatMap((name) => {
    const value = query.get(name)
    return value ? [[name, value] as [string, string]] : []
  })
  return new URLSearchParams(kept)
}

/** How the filter reads in its form again. */
export const tagValue = ({ tag }: ShownFilter): string => (tag ? tagText(tag) : '')

/**
 * The one run that is asked for, by its id or its receipt's; undefined if none is.
 * @throws Refusal 'invalid_request'
 */
export function readRunId(query: URLSearchParams): string | undefined {
  const text = readText(withoutEmpty(query), 'id')?.trim().toLowerCase()
  if (text === undefined) return undefined
  const id = text.replace(/^rcpt_/, 'run_')
  if (isId('run', id)) return id
  return refuse('invalid_request', {
    param: 'id',
    message: 'That is not the id of a run or a receipt: run_… or rcpt_… and 26 characters.',
  })
}
