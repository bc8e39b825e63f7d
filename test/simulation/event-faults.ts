import type { Db } from '../../src/storage/db/db.ts'
import { rows } from '../../src/storage/db/query-steps.ts'
import type { AuditRow } from '../../src/storage/db/schema.ts'

/** An event exists exactly if what it tells was committed: never one more, never one less. */
export async function eventFaults(db: Db): Promise<string[]> {
  const { events, keys, deposits, auditEntries, keyWindows } = db.tables
  const all = await db.read((q) => rows(q.select().from(events)))
  const audits = await db.read((q) => rows(q.select().from(auditEntries)))
  const wanted: string[] = []
  const want = (type: string, subject: string, times = 1) => {
    for (let i = 0; i < times; i++) wanted.push(`${type} ${subject}`)
  }
  for (const { id, revokedAt } of await db.read((q) => rows(q.select().from(keys)))) {
    want('key.created', id)
    if (revokedAt !== null) want('key.revoked', id)
  }
  for (const row of await db.read((q) => rows(q.select().from(deposits)))) {
    want('deposit.credited', row.id, row.credits)
    want('deposit.reversed', row.id, row.reversals)
    if (row.status === 'finalized') want('deposit.finalized', row.id)
  }
  for (const audit of audits) {
    const type = toldBy(audit)
    if (type) want(type, audit.subject)
    if (audit.action === 'key.pause' && audit.actor === 'brake') want('brake.pulled', audit.subject)
  }
  for (const row of await db.read((q) => rows(q.select().from(keyWindows)))) {
    const told = [50, 80, 100].filter((percent) => percent <= (row.told ?? 0))
    for (const percent of told)
      want('key.cap_reached', `${row.keyId} ${row.windowStart} ${percent}`)
  }
  const found = all
    .filter(({ type }) => type !== 'balance.low' && type !== 'balance.exhausted')
    .map(({ type, subject, data }) => {
      if (type !== 'key.cap_reached') return `${type} ${subject}`
      const { window_start: start, threshold } = data
      return `${type} ${subject} ${start ? Date.parse(String(start)) : 0} ${threshold}`
    })
  const faults = difference(wanted, found).map((one) => `the event ${one} is missing`)
  faults.push(...difference(found, wanted).map((one) => `the event ${one} has no cause`))
  const places = new Set(all.map(({ subject, place }) => `${subject} ${place}`))
  if (places.size < all.length) faults.push('two events of a subject have one place')
  return faults
}

const types = new Map([
  ['key.rotate', 'key.rotated'],
  ['key.pause', 'key.paused'],
  ['plan.renew', 'plan.renewed'],
  ['plan.lapse', 'plan.lapsed'],
])

function toldBy({ action, detail }: AuditRow): string | undefined {
  if (action !== 'receipt.share') return types.get(action)
  const { from, to } = detail as { from: { visibility: string }; to: { visibility: string } }
  return from.visibility === to.visibility ? undefined : 'receipt.shared'
}

/** What `some` has more often than `others`. */
function difference(some: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const one of others) left.set(one, (left.get(one) ?? 0) + 1)
  return some.filter((one) => {
    const count = left.get(one) ?? 0
    left.set(one, count - 1)
    return count <= 0
  })
}
