/** Sums up the log as it grows. */
import { marginCounter } from '../billing/margins/store/margin-counter.ts'
import { usageCounter } from '../billing/usage/store/usage-counter.ts'
import { explorerCounter } from '../front/explorer/store/explorer-counter.ts'
import { passportCounter } from '../proof/passports/store/passport-counter.ts'
import type { Db } from '../storage/db/engine/db.ts'

export const countersOf = (db: Db) => [
  usageCounter(db),
  explorerCounter(db),
  passportCounter(db),
  marginCounter(db),
]
