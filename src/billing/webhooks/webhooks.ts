/** Creates, changes, tests and removes the webhooks of an account. */
import { assertUsable, chainOf } from '../../access/keys/key.ts'
import { assertOverlap } from '../../access/keys/rotate.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import type { Once } from '../../ledger/once.ts'
import type { DeliveryRow, WebhookRow } from '../../storage/db/schema/schema.ts'
import { type AccountEventType, accountEvents, type NewEvent } from '../../storage/outbox/event.ts'
import { placesPerMs, toEventRow } from '../../storage/outbox/event-row.ts'
import { makeSecret } from './sign.ts'
import { type RoomOwner, takeRoom } from './take-room.ts'
import { defaultEvents, defaultOverlapSeconds, maxWaiting, maxWebhooks } from './webhook.ts'
import { webhookRows } from './webhook-rows.ts'

type Needs = Pick<
  Deps,
  'webhooks' | 'webhookSecrets' | 'ledger' | 'clock' | 'ids' | 'random' | 'isWebhookTarget'
>

export type WebhookRequest = {
  url?: string | undefined
  events?: readonly string[] | undefined
  description?: string | undefined
  format?: WebhookRow['format'] | undefined
  /** False disables it: waiting deliveries end as failed. */
  enabled?: boolean | undefined
}

/** @throws Refusal `not_found`, the same for webhooks of other accounts. */
export async function findWebhook(
  { webhooks }: Pick<Deps, 'webhooks'>,
  account: string,
  id: string,
): Promise<WebhookRow> {
  const found = isId('whk', id) ? await webhooks.find(account, id) : undefined
  return found ?? refuse('not_found', 'There is no such webhook.')
}

/**
 * Creates a webhook and returns it with its secret, which is shown once.
 * @throws Refusal `invalid_request` with `param`, `conflict` above the most an account has
 */
export async function createWebhook(
  deps: Needs,
  asker: RoomOwner,
  wish: WebhookRequest,
  once?: Once<WebhookRow>,
) {
  const { clock, ids, random, webhooks } = deps
  const url = wish.url ?? refuseField('url', '"url" is missing.')
  assertTarget(deps, url)
  if ((await webhooks.list(asker.account)).length >= maxWebhooks) refuseMore()
  const id = ids.make('whk')
  const secret = makeSecret(random)
  const row: WebhookRow = {
    id,
    accountId: asker.account,
    url,
    events: wish.events === undefined ? defaultEvents : readEvents(wish.events),
    description: readDescription(wish.description),
    format: wish.format ?? 'standard',
    secret: deps.webhookSecrets.seal(secret, id),
    oldSecret: null,
    oldUntil: null,
    createdAt: clock.now(),
    disabledAt: null,
    disabledReason: null,
    madeBy: asker.actor,
    failingSince: null,
    dropped: 0,
  }
  const { lineage = [] } = asker
  await deps.ledger.post({
    account: asker.account,
    opens: true,
    keys: lineage,
    call: once?.scope,
    decide(unit) {
      // The key may have been paused since its request came.
      assertUsable(chainOf(unit, lineage), unit.now)
      once?.assertFirst(unit)
      unit.part(webhookRows).push(row)
      unit.addAudit(auditOf(deps, asker, row, 'webhook.create'))
      unit.addEvent(createdEvent(asker, row))
      once?.note(unit, row)
    },
  })
  // Several that were made at once did not see each other.
  if (await webhooks.dropBeyond(row, maxWebhooks)) refuseMore()
  await followRuns(deps, asker.account)
  return { row, secret }
}

/** Names the host alone: the whole address of a chat is a secret. */
const createdEvent = (
  { account, actor }: RoomOwner,
  { id, url, format }: WebhookRow,
): NewEvent => ({
  ...{ type: 'webhook.created', account, subject: id },
  data: { webhook_id: id, host: URL.parse(url)?.host ?? '', format, actor },
})

const refuseMore = (): never =>
  refuse('conflict', `An account has at most ${maxWebhooks} webhooks. Remove one first.`)

/** @throws Refusal `not_found`, `invalid_request` with `param` */
export async function changeWebhook(
  deps: Needs,
  asker: RoomOwner,
  id: string,
  wish: WebhookRequest,
) {
  const before = await findWebhook(deps, asker.account, id)
  if (wish.url !== undefined) assertTarget(deps, wish.url)
  const row: WebhookRow = {
    ...before,
    url: wish.url ?? before.url,
    events: wish.events === undefined ? before.events : readEvents(wish.events),
    description:
      wish.description === undefined ? before.description : readDescription(wish.description),
    format: wish.format ?? before.format,
    // Enabling a webhook is answering for its address.
    madeBy: wish.url === undefined && wish.enabled !== true ? before.madeBy : asker.actor,
    ...stateOf(before, wish.enabled, deps.clock.now()),
  }
  const fields: (keyof WebhookRow)[] = ['url', 'events', 'description', 'format', 'madeBy']
  if (wish.enabled !== undefined) {
    fields.push('disabledAt', 'disabledReason', 'failingSince', 'dropped')
  }
  const audit = auditOf(deps, asker, row, 'webhook.change')
  await takeRoom(deps, asker, audit)
  await deps.webhooks.change(row, fields, audit)
  await followRuns(deps, asker.account)
  return row
}

function stateOf(before: WebhookRow, enabled: boolean | undefined, now: number) {
  const { disabledAt, disabledReason, failingSince, dropped } = before
  if (enabled === true) {
    return { disabledAt: null, disabledReason: null, failingSince: null, dropped: 0 }
  }
  if (enabled === false && disabledAt === null) {
    return { disabledAt: now, disabledReason: 'owner' as const, failingSince, dropped }
  }
  return { disabledAt, disabledReason, failingSince, dropped }
}

export async function removeWebhook(deps: Needs, asker: RoomOwner, id: string): Promise<void> {
  const row = await findWebhook(deps, asker.account, id)
  await deps.webhooks.remove(row, auditOf(deps, asker, row, 'webhook.remove'))
  await followRuns(deps, asker.account)
}

/**
 * Makes another secret. The old one signs beside it for `overlapSeconds` (default: a day, at most a
 * week), so that receivers can switch without losing a message.
 * @throws Refusal `not_found`, `invalid_request` with `param`, `conflict` for the later one of two
 *   at once, whose secret would otherwise be shown and sign nothing
 */
export async function rotateWebhook(
  deps: Needs,
  asker: RoomOwner,
  {
    id,
    overlapSeconds = defaultOverlapSeconds,
  }: { id: string; overlapSeconds?: number | undefined },
) {
  assertOverlap(overlapSeconds)
  const before = await findWebhook(deps, asker.account, id)
  const secret = makeSecret(deps.random)
  const row: WebhookRow = {
    ...before,
    secret: deps.webhookSecrets.seal(secret, id),
    oldSecret: before.secret,
    oldUntil: deps.clock.now() + overlapSeconds * 1000,
  }
  const audit = auditOf(deps, asker, row, 'webhook.rotate')
  await takeRoom(deps, asker, audit)
  if (!(await deps.webhooks.rotate(row, before.secret, audit))) {
    refuse('conflict', 'This webhook was changed at the same moment. Rotate its secret again.')
  }
  return { row, secret }
}

/** Sends a `webhook.test`, whichever events the webhook has chosen; returns the delivery. */
export async function testWebhook(deps: Needs, asker: RoomOwner, id: string): Promise<DeliveryRow> {
  const { webhooks, clock } = deps
  const row = await findWebhook(deps, asker.account, id)
  if (row.disabledAt !== null) refuse('conflict', 'This webhook is disabled. Enable it first.')
  if ((await webhooks.waiting(id)) >= maxWaiting) {
    refuse('conflict', 'Too many events wait for this webhook already.')
  }
  const now = clock.now()
  const about = { account: asker.account, subject: id, data: { webhook_id: id } }
  const made = toEventRow({ type: 'webhook.test', ...about }, now * placesPerMs, now)
  // Nothing but the time tells two tests apart, and both may come in one millisecond.
  const event = { ...made, id: deps.ids.make('evt') }
  await takeRoom(deps, asker, event)
  const sent = await webhooks.sendTo(event, id, now)
  return sent ?? refuse('conflict', 'This webhook was disabled. Enable it first.')
}

/** The balance below which `balance.low` is told; null for never. */
export const setLowBalance = (
  { ledger, ids }: Pick<Deps, 'ledger' | 'ids'>,
  { account, actor }: RoomOwner,
  low: bigint | null,
): Promise<void> =>
  ledger.post({
    account,
    opens: true,
    keys: [],
    decide(unit) {
      const row = unit.account(account)
      if (!row) throw new Error('a threshold for an account that was not opened')
      if (row.lowBalance === low) return
      row.lowBalance = low
      unit.changed('alerts', row)
      const detail = { balance_low_nusd: low?.toString() ?? null }
      const about = { actor, action: 'alerts.change', accountId: account, subject: account, detail }
      unit.addAudit({ id: ids.make('req'), at: unit.now, ...about })
    },
  })

/**
 * Stores in the account whether a webhook wants `run.ended`, so that a paid run need not look for
 * webhooks. Repeats until the account agrees with the list: of two concurrent changes the last one
 * sees both.
 */
async function followRuns({ webhooks, ledger }: Needs, account: string): Promise<void> {
  const isWanted = async (): Promise<boolean> =>
    (await webhooks.list(account)).some(
      ({ disabledAt, events }) => disabledAt === null && events.includes('run.ended'),
    )
  for (let wanted = await isWanted(), said: boolean | undefined; said !== wanted; ) {
    said = wanted
    const tellsRuns = wanted
    await ledger.post({
      isExempt: true,
      account,
      opens: true,
      keys: [],
      decide(unit) {
        const row = unit.account(account)
        if (!row || row.tellsRuns === tellsRuns) return
        row.tellsRuns = tellsRuns
        unit.changed('alerts', row)
      },
    })
    wanted = await isWanted()
  }
}

function assertTarget({ isWebhookTarget }: Needs, url: string): void {
  if (isWebhookTarget(url)) return
  refuseField('url', 'Send an https:// URL of a public server, without a user or password in it.')
}

function readEvents(named: readonly string[]): AccountEventType[] {
  const wrong = named.find((one) => !Object.hasOwn(accountEvents, one))
  if (wrong !== undefined || named.length === 0) {
    const known = Object.keys(accountEvents).join(', ')
    refuseField('events', `"events" lists one or more of: ${known}.`)
  }
  return [...new Set(named)] as AccountEventType[]
}

function readDescription(text = ''): string {
  if (text.length > 200 || /\p{Cc}/u.test(text)) {
    refuseField('description', 'A description has at most 200 characters, on one line.')
  }
  return text
}

export const auditOf = (
  { ids, clock }: Pick<Deps, 'ids' | 'clock'>,
  { account: accountId, actor }: RoomOwner,
  { id: subject, url, events, format, disabledAt }: WebhookRow,
  action: string,
  more: Record<string, Json> = {},
) => {
  const about = { host: URL.parse(url)?.host ?? '', events, format }
  const detail: Record<string, Json> = { ...about, ...more }
  detail['enabled'] = disabledAt === null
  return { id: ids.make('req'), at: clock.now(), actor, action, accountId, subject, detail }
}
