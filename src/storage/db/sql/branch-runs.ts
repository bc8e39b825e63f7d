/** Finds the newest runs of a branch of keys in SQL, without reading those of other keys. */
import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Tables } from '../schema/schema.ts'
import { type Query, rows, type Work } from './query-steps.ts'

/** SQLite takes 500 parts in a union. */
const unionMax = 400

/** The ids of all keys of a branch; undefined for a whole account. */
export function* keysOfBranch(
  q: Query,
  { keys }: Pick<Tables, 'keys'>,
  branch: string | undefined,
): Work<string[] | undefined> {
  if (branch === undefined) return undefined
  const found = q.select({ id: keys.id }).from(keys).where(eq(keys.branch, branch))
  return (yield* rows(found)).map(({ id }) => id)
}

/**
 * Whether a run is among the newest `limit` of one of these keys that pass `bounds`. Each key is
 * read by the index of its runs, so that a branch with many runs costs no more than one with few.
 */
export function isNewestOf(
  { runs }: Pick<Tables, 'runs'>,
  keyIds: readonly string[],
  bounds: SQL | undefined,
  limit: number,
): SQL {
  if (keyIds.length === 0) return sql`1 = 0`
  if (keyIds.length > unionMax) return inArray(runs.keyId, [...keyIds])
  const parts = keyIds.map((id) => {
    const own = and(eq(runs.keyId, id), bounds)
    const from = sql`select ${runs.id} from ${runs} where ${own}`
    return sql`select * from (${from} order by ${desc(runs.id)} limit ${limit}) as one`
  })
  return sql`${runs.id} in (${sql.join(parts, sql` union all `)})`
}
