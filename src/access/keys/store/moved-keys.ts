/** Reads keys by their ids, and from the audit the settings that people made wider. */
import { and, eq, gte, inArray, lt } from 'drizzle-orm'
import type { Json } from '../../../kernel/canonical.ts'
import { isPart } from '../../../kernel/network-block.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import { rows } from '../../../storage/db/sql/query-steps.ts'
import { matches } from '../key.ts'

/** The keys whose ids are at least `from` and below `to`. */
export function keysBetween(db: Db, from: string, to: string): Promise<KeyRow[]> {
  const { keys } = db.tables
  const isBetween = and(gte(keys.id, from), lt(keys.id, to))
  return db.read((q) => rows(q.select().from(keys).where(isBetween)))
}

/** Accounts read in one step. */
const accountsRead = 200

/** By key of these accounts, the members whose value any change of the key has widened. */
export function widenedKeys(
  db: Db,
  accounts: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> {
  const { accountId, action, subject, detail } = db.tables.auditEntries
  return db.read(function* (q) {
    const widened = new Map<string, ReadonlySet<string>>()
    for (let at = 0; at < accounts.length; at += accountsRead) {
      const some = inArray(accountId, accounts.slice(at, at + accountsRead))
      const changes = and(some, eq(action, 'key.change'))
      const found = q.select({ subject, detail }).from(db.tables.auditEntries).where(changes)
      for (const entry of yield* rows(found)) {
        const wider = Object.entries(entry.detail).filter(isWider)
        const known = widened.get(entry.subject) ?? []
        widened.set(entry.subject, new Set([...known, ...wider.map(([member]) => member)]))
      }
    }
    return widened
  })
}

function isWider([member, change]: [string, Json]): boolean {
  const { from, to } = change as { from: Json; to: Json }
  if (Array.isArray(from) && Array.isArray(to)) {
    if (from.length === 0) return false
    const isIn = member === 'ip_cidrs' ? isPart : matches
    return to.length === 0 || !to.every((one) => from.some((old) => isIn(`${old}`, `${one}`)))
  }
  if (from === null || to === null) return from !== null
  if (member === 'expires_at') return Date.parse(`${to}`) > Date.parse(`${from}`)
  return Number(to) > Number(from)
}
