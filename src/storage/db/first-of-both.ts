/** Merges two ordered selects, each of which goes along its own index. */
import { type SQL, sql } from 'drizzle-orm'

/**
 * The first rows of two selects together, for a FROM. Each is limited by itself, because
 * PostgreSQL plans a limited UNION ALL by reading and sorting all of it. `order` names columns of
 * the first select.
 */
export function firstOfBoth(
  [one, other]: [SQL, SQL],
  { order, limit }: { order: SQL; limit: number },
): SQL {
  const first = (of: SQL) => sql`select * from (${of} order by ${order} limit ${limit}) as part`
  return sql`(${first(one)} union all ${first(other)} order by ${order} limit ${limit})`
}
