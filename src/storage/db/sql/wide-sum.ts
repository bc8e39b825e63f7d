/** Adds amounts up beyond the 64 bits in which SQLite does, where it fails with an overflow. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Nusd } from '../../../kernel/money.ts'

const usd = 1_000_000_000n

/** The sum of amounts in nano-USD, 0 of none: dollars and the rest are summed apart. */
export const wideSum = (amount: SQLWrapper): SQL<Nusd> =>
  sql`cast(coalesce(sum(${amount} / 1000000000), 0) as text) || ' ' ||
    cast(coalesce(sum(${amount} % 1000000000), 0) as text)`.mapWith((text: string) => {
    const [whole = '0', rest = '0'] = text.split(' ')
    return BigInt(whole) * usd + BigInt(rest)
  })
