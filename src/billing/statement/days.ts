/** Groups the movements of an account by day. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import type { ZoneName } from '../../kernel/zone.ts'
import { changeOf } from '../../ledger/number-transfers.ts'
import { besideMax, type LedgerDay, type Movement } from './movement.ts'

/** A day of a statement: its runs in one sum, everything else line by line. */
export type StatementDay = {
  day: Millis
  /** The balance before the first line of the day; `closing` is the one after its last. */
  opening: Nusd
  closing: Nusd
  runs: { count: number; amount: Nusd }
  /** Newest first. */
  others: Movement[]
  /** Whether `runs` also holds others, because there were too many of them. */
  isMixed: boolean
}

type DayPage = { before: Millis | undefined; limit: number; zone?: ZoneName }

/** The last days of a zone (default: UTC) with any movement, and whether older ones follow. */
export async function readDays(
  { statements }: Pick<Deps, 'statements'>,
  account: string,
  { before, limit, zone }: DayPage,
): Promise<{ days: StatementDay[]; hasMore: boolean }> {
  const found = await statements.days(account, before, limit, zone)
  return { days: found.map(toDay), hasMore: found.at(-1)?.open !== undefined }
}

/** The runs of a day are what its other lines leave unexplained, in number and in money. */
function toDay({ day, close, open, beside }: LedgerDay): StatementDay {
  const opening = open?.balance ?? 0n
  const explained = beside.reduce((sum, one) => sum + changeOf(one), 0n)
  return {
    day,
    opening,
    closing: close.balance,
    runs: {
      count: close.seq - (open?.seq ?? 0) - beside.length,
      amount: close.balance - opening - explained,
    },
    others: beside.filter((one) => changeOf(one) !== 0n),
    isMixed: beside.length === besideMax,
  }
}
