/** Finds a key and all keys below it in SQL. */
import { type SQL, sql } from 'drizzle-orm'
import type { Tables } from '../schema/schema.ts'

/**
 * Whether a key is `keyId` or below it. The lineage is JSON text of ids that need no escapes. Add a
 * condition on the account: only that has an index.
 */
export const isUnder = ({ lineage }: Tables['keys'], keyId: string): SQL =>
  sql`${lineage} like ${`%"${keyId}"%`}`
