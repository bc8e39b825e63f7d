import { type SQL, sql } from 'drizzle-orm'
import type { Tables } from './schema.ts'

/**
 * Whether a key is `keyId` or below it. The lineage is stored as the JSON text of its ids, which
 * hold nothing that JSON would escape. Narrow to the account besides: that is what has an index.
 */
export const isUnder = ({ lineage }: Tables['keys'], keyId: string): SQL =>
  sql`${lineage} like ${`%"${keyId}"%`}`
