/** SQL of {@link SetupLinks}: they stand among the nonces, under names that no sign-in can have. */
import { and, eq, gt, like, ne, type SQL } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import { first, insert, type Query, rows } from '../../../storage/db/sql/query-steps.ts'
import { sponsorAccount } from '../../accounts/account.ts'
import type { SetupLink, SetupLinks } from '../setup-links.ts'

/** A nonce of EIP-4361 has letters and digits alone. */
const prefix = 'setup-link-'

export function setupLinkStore(db: Db): SetupLinks {
  const { signInNonces: table, accounts } = db.tables
  const all = like(table.nonce, `${prefix}%`)
  const named = (hash: string): SQL => eq(table.nonce, prefix + hash)

  const rowOf = ({ hash, issuedAt, expiresAt }: SetupLink) => ({
    ...{ nonce: prefix + hash, browserHash: hash, accountId: null, message: null },
    ...{ issuedAt, expiresAt },
  })
  const dropAll = (q: Query) => rows(q.delete(table).where(all).returning())

  return {
    async isNewService() {
      // The terminal's sponsor is made by the server itself.
      const ofOthers = ne(accounts.id, sponsorAccount)
      const one = await db.read((q) =>
        first(q.select({ id: accounts.id }).from(accounts).where(ofOthers).limit(1)),
      )
      return one === undefined
    },
    add: (link) =>
      db.write(function* () {
        yield* insert(table, [rowOf(link)])
      }),
    replace: (link) =>
      db.write(function* (q) {
        yield* dropAll(q)
        yield* insert(table, [rowOf(link)])
      }),
    async find(hash, now) {
      const lives = and(named(hash), gt(table.expiresAt, now))
      const found = await db.read((q) => first(q.select().from(table).where(lives)))
      return (
        found && { hash: found.browserHash, issuedAt: found.issuedAt, expiresAt: found.expiresAt }
      )
    },
    take: (hash, now) =>
      db.write(function* (q) {
        const lives = and(named(hash), gt(table.expiresAt, now))
        if (!(yield* first(q.select().from(table).where(lives)))) return false
        // Another caller waits here for the locks of these rows, and finds none then.
        const gone = yield* dropAll(q)
        return gone.some((row) => row.browserHash === hash)
      }),
  }
}
