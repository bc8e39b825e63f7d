/** The forms of `/api/portal/webhooks`: their fields, all of it text, and how they are read. */
import { Type } from '@sinclair/typebox'
import type { Json } from '../../../kernel/canonical.ts'
import { refuse } from '../../../kernel/refusal.ts'
import type { WebhookRow } from '../../../storage/db/schema/schema.ts'
import { type AccountEventType, accountEvents } from '../../../storage/outbox/event.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { type Draft, draftOf } from '../../../web/http/fields.ts'
import * as t from '../../../web/http/shape.ts'
import { formats } from '../api/webhook-body.ts'
import { defaultEvents } from '../webhook.ts'
import type { WebhookRequest } from '../webhooks.ts'

const field = (about: string, example: string) => Type.Optional(t.text(about, example))

/** Types of events in the order of the boxes. */
export const eventTypes = Object.keys(accountEvents) as AccountEventType[]

export const boxOf = (type: string): string => `event.${type}`

const boxes = Object.fromEntries(
  eventTypes.map((type) => [boxOf(type), field(`Any text: the box of \`${type}\`.`, 'true')]),
)

export const webhookForm = t.body('WebhookForm', 'A webhook as a form. A new one needs `url`.', {
  url: field('Where events are posted to.', 'https://example.com/hooks/counterfoil'),
  description: field('At most 200 characters.', 'accounting'),
  format: field(`One of: ${formats.join(', ')}; default: standard.`, 'standard'),
  enabled: field('Of one that is there: `true` or `false`.', 'true'),
  events_from: field('Any text: the form has boxes, and absent ones are empty.', 'boxes'),
  ...boxes,
})

export const webhookRotateForm = t.answer('WebhookRotationForm', 'A rotation as a form.', {
  overlap_seconds: field('How long the old secret signs too; default a day.', '3600'),
})

export const alertsForm = t.body('AlertsForm', 'The threshold as a form.', {
  balance_low: Type.Optional(t.text('Decimal USD; empty: never.', '5.00')),
})

/** @throws Refusal `invalid_request` whose `param` is a field of the form */
export function readWebhookForm(value: Json): WebhookRequest {
  checkBody(webhookForm, value)
  const draft = draftOf(value)
  const { url, description, enabled } = draft
  return {
    ...(url === undefined ? {} : { url: readUrl(url) }),
    ...(draft['events_from'] === undefined ? {} : { events: readBoxes(draft) }),
    ...(description === undefined ? {} : { description: description.trim() }),
    ...(draft['format'] === undefined ? {} : { format: readFormat(draft['format']) }),
    ...(enabled === undefined ? {} : { enabled: enabled === 'true' }),
  }
}

function readUrl(text: string): string {
  const url = text.trim()
  return url === '' ? no('url', 'Enter the https:// address that takes the events.') : url
}

function readBoxes(draft: Draft): AccountEventType[] {
  const chosen = eventTypes.filter((type) => draft[boxOf(type)] !== undefined)
  return chosen.length === 0 ? no('events', 'Choose at least one event.') : chosen
}

const readFormat = (text: string): WebhookRow['format'] =>
  formats.find((one) => one === text) ?? no('format', `Choose one of: ${formats.join(', ')}.`)

/** The form's values of a webhook. */
export const toDraft = ({ url, description, format, events }: WebhookRow): Draft => ({
  url,
  description,
  format,
  events_from: 'boxes',
  ...Object.fromEntries(events.map((type) => [boxOf(type), 'true'])),
})

/** The defaults of a new form. */
export const newDraft: Draft = Object.fromEntries(
  defaultEvents.map((type) => [boxOf(type), 'true']),
)

/** The seconds of a form; NaN, which the command refuses, for anything else. */
export function readOverlap(value: Json): number | undefined {
  const { overlap_seconds: text } = draftOf(value)
  if (text === undefined) return undefined
  return /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
}

const no = (param: string, message: string): never => refuse('invalid_request', { param, message })
