/** Turns an event into the body of a delivery: the event itself, or a chat's message. */
import type { Json } from '../../kernel/canonical.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { toUsd } from '../../kernel/money.ts'
import type { EventRow, WebhookRow } from '../../storage/db/schema/schema.ts'
import { accountEvents, operatorEvents } from '../../storage/outbox/event.ts'
import { toChecksumAddress } from '../../verify/address.ts'

export type EventView = {
  type: string
  id: string
  timestamp: string
  /** Null for events that concern the operator alone. */
  account: string | null
  data: Record<string, Json>
}

export const toEventView = ({ type, id, at, accountId, data }: EventRow): EventView => ({
  type,
  id,
  timestamp: toRfc3339(at),
  account: accountId === '' ? null : toChecksumAddress(accountId),
  data,
})

/** The body of a delivery; every attempt sends the same bytes. */
export type Messages = (event: EventRow, format: WebhookRow['format']) => string

/** Writes the body once for all endpoints of one format that an event was read for. */
export function makeMessages(): Messages {
  const written = new WeakMap<EventRow, Partial<Record<WebhookRow['format'], string>>>()
  return (event, format) => {
    const known = written.get(event) ?? {}
    written.set(event, known)
    known[format] ??= messageOf(event, format)
    return known[format]
  }
}

function messageOf(event: EventRow, format: WebhookRow['format']): string {
  if (format === 'standard') return JSON.stringify(toEventView(event))
  const { title, lines } = wordsOf(event)
  const text = [`*${title}*`, ...lines].join('\n')
  if (format === 'slack') {
    const block = { type: 'section', text: { type: 'mrkdwn', text } }
    return JSON.stringify({ text: title, blocks: [block] })
  }
  const content = [`**${title}**`, ...lines].join('\n').slice(0, 2000)
  // A name that a user chose must not mention people.
  return JSON.stringify({ content, allowed_mentions: { parse: [] } })
}

function wordsOf(event: EventRow): { title: string; lines: string[] } {
  const about: Record<string, string> = { ...accountEvents, ...operatorEvents }
  const title = about[event.type] ?? 'A test of this webhook.'
  const said = Object.entries(event.data).flatMap(([name, value]) => {
    if (value === null || typeof value === 'object') return []
    return [`${labelOf(name)}: ${textOf(name, value)}`]
  })
  const whose = event.accountId === '' ? [] : [`Account: ${event.accountId}`]
  return { title, lines: [...said, ...whose, `Event: ${event.type} ${event.id}`] }
}

const labelOf = (name: string): string => {
  const words = name.replace(/_nusd$/, '').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Strips the marks by which either chat would turn a name into a link, a mention or a layout. */
function textOf(name: string, value: Exclude<Json, null | object>): string {
  if (typeof value === 'number' && name.endsWith('_nusd')) return `$${toUsd(BigInt(value))}`
  if (typeof value === 'number' && name === 'threshold') return `${value} %`
  return String(value).replace(/[<>&*`~|@[\]()\p{Cc}]/gu, ' ')
}
