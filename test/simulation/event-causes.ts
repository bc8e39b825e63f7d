import type { Db } from '../../src/storage/db/engine/db.ts'
import type { AuditRow, EventRow } from '../../src/storage/db/schema/schema.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'

/** What must have been told of an account: a type, its subject and, of a cap, window and percentage. */
export type Cause = { account: string; name: string }

/** The name that the cause of an event has; undefined for a balance's, which its journal explains. */
export function nameOf({ type, subject, data }: Pick<EventRow, 'type' | 'subject' | 'data'>) {
  if (type === 'balance.low' || type === 'balance.exhausted') return undefined
  if (type !== 'key.cap_reached') return `${type} ${subject}`
  const { window_start: start, threshold } = data
  return `${type} ${subject} ${start ? Date.parse(String(start)) : 0} ${threshold}`
}

/** Everything that was committed and is told, but for what balances tell. */
export async function causesOf(db: Db): Promise<Cause[]> {
  const { keys, deposits, auditEntries, keyWindows, runs, accounts } = db.tables
  const found = await db.read(function* (q) {
    return {
      keys: yield* rows(q.select().from(keys)),
      deposits: yield* rows(q.select().from(deposits)),
      audits: yield* rows(q.select().from(auditEntries)),
      windows: yield* rows(q.select().from(keyWindows)),
      runs: yield* rows(q.select({ id: runs.id, account: runs.accountId }).from(runs)),
      accounts: yield* rows(q.select().from(accounts)),
    }
  })
  const all: Cause[] = []
  const add = (account: string, name: string, times = 1) => {
    for (let i = 0; i < times; i++) all.push({ account, name })
  }
  for (const { id, accountId, revokedAt } of found.keys) {
    add(accountId, `key.created ${id}`)
    if (revokedAt !== null) add(accountId, `key.revoked ${id}`)
  }
  for (const { id, account, credits, reversals, status } of found.deposits) {
    add(account, `deposit.credited ${id}`, credits)
    add(account, `deposit.reversed ${id}`, reversals)
    if (status === 'finalized') add(account, `deposit.finalized ${id}`)
  }
  for (const audit of found.audits) {
    const { accountId, subject, action, actor } = audit
    const type = toldBy(audit)
    if (type) add(accountId, `${type} ${subject}`)
    if (action === 'key.pause' && actor === 'brake') add(accountId, `brake.pulled ${subject}`)
  }
  const owners = new Map(found.keys.map(({ id, accountId }) => [id, accountId]))
  for (const { keyId, windowStart, told } of found.windows) {
    for (const percent of [50, 80, 100].filter((one) => one <= (told ?? 0))) {
      add(owners.get(keyId) ?? '', `key.cap_reached ${keyId} ${windowStart} ${percent}`)
    }
  }
  // Here an account wants to be told of its runs from the start or never.
  const tellers = new Set(found.accounts.flatMap(({ id, tellsRuns }) => (tellsRuns ? id : [])))
  for (const { id, account } of found.runs) {
    if (tellers.has(account)) add(account, `run.ended ${id}`)
  }
  return all
}

const types = new Map([
  ['key.rotate', 'key.rotated'],
  ['key.pause', 'key.paused'],
  ['plan.renew', 'plan.renewed'],
  ['plan.lapse', 'plan.lapsed'],
  ['webhook.create', 'webhook.created'],
])

function toldBy({ action, detail }: AuditRow): string | undefined {
  if (action !== 'receipt.share') return types.get(action)
  const { from, to } = detail as { from: { visibility: string }; to: { visibility: string } }
  return from.visibility === to.visibility ? undefined : 'receipt.shared'
}

/** What `wanted` and `found` differ in, each as often as it does. */
export function eventDifferences(wanted: readonly string[], found: readonly string[]): string[] {
  return [
    ...excess(wanted, found).map((one) => `the event ${one} is missing`),
    ...excess(found, wanted).map((one) => `the event ${one} has no cause`),
  ]
}

/** What `some` has more often than `others`. */
function excess(some: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const one of others) left.set(one, (left.get(one) ?? 0) + 1)
  return some.filter((one) => {
    const count = left.get(one) ?? 0
    left.set(one, count - 1)
    return count <= 0
  })
}
