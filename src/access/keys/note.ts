/** Audit entries of changes of keys. */
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import type { EventType } from '../../storage/outbox/event.ts'
import { everyRight } from './bounds.ts'
import { everyLimit } from './key-limits.ts'

/** An action on a key. `actor`: `operator`, a wallet or the id of a key. */
export type KeyNote = { actor: string; action: string; detail: Record<string, Json> }

/** Adds an audit entry in the transaction of the change. It never holds a secret. */
export function noteKey(unit: UnitOfWork, ids: Deps['ids'], key: KeyRow, note: KeyNote): void {
  const about = { accountId: key.accountId, subject: key.id }
  unit.addAudit({ id: ids.make('req'), at: unit.now, ...about, ...note })
  const type = told.get(note.action)
  if (type) tellKey(unit, key, { type, actor: note.actor })
}

/** Changes that become events here; a revocation tells each key that it ends. */
const told = new Map<string, EventType>([
  ['key.create', 'key.created'],
  ['key.rotate', 'key.rotated'],
  ['key.pause', 'key.paused'],
])

/** Tells what happened to a key, in the transaction of the change. */
export function tellKey(
  unit: UnitOfWork,
  key: KeyRow,
  { type, actor, more }: { type: EventType; actor: string; more?: Record<string, Json> },
): void {
  const { id, name, parentId, pausedReason } = key
  const data: Record<string, Json> = { key_id: id, name, parent_id: parentId, actor, ...more }
  if (type === 'key.paused') data['reason'] = pausedReason
  unit.addEvent({ type, account: key.accountId, subject: id, data })
}

/** Money is text in the audit. */
const noted = (value: Json | bigint): Json => (typeof value === 'bigint' ? `${value}` : value)

/** The changeable fields of a key, by their names in the API. */
export const toDetail = (key: KeyRow): Record<string, Json> => ({
  ...Object.fromEntries(everyRight.map(([column, { member }]) => [member, noted(key[column])])),
  'cap.window': key.capWindow,
  expires_at: toRfc3339(key.expiresAt),
  ...Object.fromEntries(
    everyLimit.map(([column, { member }]) => [`limits.${member}`, noted(key[column])]),
  ),
  'limits.brake.nusd_per_minute': noted(key.brakeMinute),
  'limits.brake.nusd_per_hour': noted(key.brakeHour),
  'limits.brake.running': key.brakeRunning,
})

/** The fields whose values differ, each with both values. */
export function differenceOf(
  before: Record<string, Json>,
  after: Record<string, Json>,
): Record<string, Json> {
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  )
  return Object.fromEntries(
    changed.map(([name, value]) => [name, { from: before[name] ?? null, to: value }]),
  )
}
