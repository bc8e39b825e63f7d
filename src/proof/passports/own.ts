/** Reads everything that the owner of a passport sees. */
import { statusOf } from '../../access/keys/key.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { KeyRow, PassportRow, PassportStatementRow } from '../../storage/db/schema/schema.ts'
import { keysOf } from './bind.ts'
import { recordOf } from './issue.ts'
import type { TrackRecord } from './record.ts'
import type { Standing } from './store/standing.ts'

/** A passport with all that its owner sees of it. */
export type OwnPassport = {
  standing: Standing
  record: TrackRecord
  /** The keys that name it. */
  bound: KeyRow[]
  /** Keys in use that do not. */
  free: KeyRow[]
  /** The newest record that was signed. */
  statement: PassportStatementRow | undefined
}

export async function readOwnPassport(
  deps: Pick<Deps, 'passports' | 'keys' | 'clock' | 'logs'>,
  row: PassportRow,
): Promise<OwnPassport> {
  const { passports, keys, clock } = deps
  const now = clock.now()
  const [standing, bound, all, statement] = await Promise.all([
    passports.stand(row.handle),
    keysOf(deps, row),
    keys.tree({ account: row.accountId }, now),
    passports.newestStatement(row.handle),
  ])
  if (!standing) throw new Error(`there is no passport ${row.handle}`)
  const free = all.filter(
    ({ key, chain }) => key.passport !== row.handle && statusOf(chain, now) !== 'revoked',
  )
  const record = recordOf(deps, standing)
  return { standing, record, bound, free: free.map(({ key }) => key), statement }
}
