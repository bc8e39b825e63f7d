/** The rules of webhooks: how many an account has, how long deliveries are retried and kept. */
import type { Millis } from '../../kernel/clock.ts'
import type { DeliveryRow, EventRow, WebhookRow } from '../../storage/db/schema/schema.ts'
import type { DeliveryTarget } from '../../storage/db/schema/schema-outbox.ts'
import type { AccountEventType, EventType } from '../../storage/outbox/event.ts'
import { accountEvents } from '../../storage/outbox/event.ts'

const hourMs = 3_600_000

/** How long an event is retried, and an endpoint may fail before it is disabled, in ms. */
export const triedForMs = 3 * 24 * hourMs
/** Default time that an old secret signs beside the new one, in s. */
export const defaultOverlapSeconds = 86_400
/** The most endpoints of one account. */
export const maxWebhooks = 20
/** The most deliveries that wait for one endpoint; further ones are counted and dropped. */
export const maxWaiting = 10_000
/** Urgent events that wait beside those. */
export const maxUrgentWaiting = 1000
/** Ended deliveries kept for the page of an endpoint, and for how long, in ms. */
export const maxKept = 1000
export const keptMs = 7 * 24 * hourMs
/** Concurrent deliveries to one endpoint, each of another subject; one while it is failing. */
export const sentAtOnce = 8

/** Types that an owner must hear of first: others know a secret, or a key spends too fast. */
export const urgentTypes: EventType[] = ['leak.reported', 'brake.pulled']

const urgent: ReadonlySet<string> = new Set(urgentTypes)

/** How far in the past an urgent delivery is due, in ms: it comes before all others that wait. */
const aheadMs = 30 * 24 * hourMs

/** When a delivery that may be sent now is due. */
export const dueAt = (isAhead: boolean, now: Millis): Millis => (isAhead ? now - aheadMs : now)

/** The latest time at which only deliveries that go ahead are due. */
export const aheadUntil = (now: Millis): Millis => now - aheadMs / 2

/** Whether events of this type go before those of other subjects. */
export const isUrgentType = (type: string): boolean => urgent.has(type)

/** Whether a delivery is urgent, or the next one of a subject with an urgent event. */
export const isUrgent = ({ type, nextAt, since }: Omit<DeliveryRow, 'tries'>): boolean =>
  isUrgentType(type) || (nextAt !== null && nextAt <= aheadUntil(since))

/** The event types of a new endpoint that names none. */
export const defaultEvents = (Object.keys(accountEvents) as AccountEventType[]).filter(
  (type) => type !== 'run.ended',
)

/** Whether an endpoint subscribes to an event; its creation and events before never match. */
export const wants = (
  { id, disabledAt, events, createdAt }: WebhookRow,
  { type, at, subject }: EventRow,
): boolean =>
  disabledAt === null &&
  createdAt <= at &&
  events.includes(type as EventType) &&
  !(type === 'webhook.created' && subject === id)

/** The outcome of an attempt. */
export type AttemptResult = {
  httpStatus: number | null
  error: string | null
  durationMs: number
  /** The start of what the endpoint answered, where that may be shown. */
  answer?: string
  /** Absent where nothing was sent. */
  to?: DeliveryTarget
}

/** The last tries of a delivery, which its row keeps. */
export const maxTries = 10

export const isDelivered = ({ httpStatus }: AttemptResult): boolean =>
  httpStatus !== null && httpStatus >= 200 && httpStatus <= 299
