/** Reads what lists of runs and of receipts have in common: a time, an id, and their address. */
import type { Millis } from '../../kernel/clock.ts'
import { type IdPart, readIdPart } from '../../kernel/id-part.ts'
import { readPeriod } from '../../kernel/period.ts'
import { refuse } from '../../kernel/refusal.ts'
import { readChoice, readText, withoutEmpty } from './query.ts'

/** The fields that the filter of each of these lists has. */
const sharedNames = ['last', 'from', 'to', 'id', 'sort', 'limit']

/** The filter of an address as the query of another one: its filled fields, and nothing else. */
export const filterQuery = (asked: URLSearchParams, own: readonly string[]): URLSearchParams =>
  new URLSearchParams(
    [...withoutEmpty(asked)].filter(([name]) => own.includes(name) || sharedNames.includes(name)),
  )

const spans = ['24h', '7d', '30d'] as const
const spanHours = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const

/**
 * The time from `from` on and before `to`. `last` is a time that ends now; `from` goes before it.
 * @throws Refusal 'invalid_request'
 */
export function readTimes(
  query: URLSearchParams,
  now: Millis,
): { from: Millis | undefined; to: Millis | undefined } {
  const { from, to } = readPeriod({ from: readText(query, 'from'), to: readText(query, 'to') })
  const span = readChoice(query, 'last', spans)
  return {
    from: from ?? (span && now - spanHours[span] * 3_600_000),
    to: Number.isFinite(to) ? to : undefined,
  }
}

/**
 * The id of a run or a receipt that is looked for, whole or in part; undefined if none is.
 * @throws Refusal 'invalid_request'
 */
export function readIds(query: URLSearchParams): IdPart | undefined {
  const text = readText(query, 'id')
  if (text === undefined) return undefined
  const part = readIdPart(text)
  if (part) return part
  return refuse('invalid_request', {
    param: 'id',
    message:
      'That is not the id of a run or a receipt. Enter it whole (run_… or rcpt_… and 26 ' +
      'characters), its beginning, or both ends as a list shows them: rcpt_01ab…x9y8z7.',
  })
}
