/** Compares a key here with the same key of another gateway: every tightening there is taken. */
import type { KeyChange } from '../../access/keys/change.ts'
import type { CapWindow } from '../../ledger/window.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { addMisfit, type Misfits } from './found.ts'
import { commonNetworks, commonOf, type KeyWish } from './plan-moves.ts'

type Tightening = { widened: ReadonlySet<string>; misfits: Misfits }

/**
 * Returns the change that makes a key as tight as it is there, or why it has to be stopped instead.
 * A limit that a person lowered here stays lower, and one that a person raised stays raised.
 */
export function tightened(
  wish: KeyWish,
  row: KeyRow,
  { widened, misfits }: Tightening,
): KeyChange | string {
  const change: KeyChange = {}
  const note = (why: string): void => addMisfit(misfits, why, row.name)
  const isTheirs = (member: string, what: string): boolean => {
    if (widened.has(member)) note(`its ${what} was raised here: it stays so`)
    return widened.has(member)
  }
  const { capThere } = wish
  const isRarer = capThere !== undefined && days[wish.capWindow] > days[row.capWindow]
  const isLower = capThere !== undefined && capThere < row.capLimit
  if ((isRarer || isLower) && !isTheirs('cap.limit_nusd', 'cap')) {
    if (isRarer) return 'its cap is renewed less often there'
    change.capLimit = capThere
  }
  const isEarlier = wish.hasExpiry && wish.expiresAt < row.expiresAt
  if (isEarlier && !isTheirs('expires_at', 'expiry')) change.expiresAt = wish.expiresAt
  const models = commonOf(wish.models, row.models)
  if (wish.models.length > 0 && isOther(models, row.models)) {
    if (!isTheirs('models', 'list of models')) {
      if (models.length === 0) return 'it allows none of its models here there any more'
      change.models = models
    }
  }
  const networks = commonNetworks(wish.ipCidrs, row.ipCidrs)
  if (wish.ipCidrs.length > 0 && isOther(networks, row.ipCidrs)) {
    if (!isTheirs('ip_cidrs', 'list of networks')) {
      if (networks.length === 0) return 'it allows none of its networks here there any more'
      change.ipCidrs = networks
    }
  }
  for (const name of ['rpm', 'concurrency'] as const) {
    const [there, here] = [wish[name], row[name]]
    const isLess = there !== null && (here === null || there < here)
    if (isLess && !isTheirs(`limits.${name}`, name)) change[name] = there
  }
  if (isWider(wish, row)) note('it may do more there than here, and stays as it is here')
  return change
}

const days: Record<CapWindow, number> = { day: 1, week: 7, month: 31, lifetime: Infinity }

function isWider(wish: KeyWish, row: KeyRow): boolean {
  const { capThere } = wish
  const isMore = (there: number | null, here: number | null): boolean =>
    here !== null && (there === null || there > here)
  return (
    (capThere !== undefined && capThere > row.capLimit) ||
    (capThere !== undefined && days[wish.capWindow] < days[row.capWindow]) ||
    (wish.hasExpiry && wish.expiresAt > row.expiresAt) ||
    isOther(commonOf(wish.models, row.models), wish.models) ||
    isOther(commonNetworks(wish.ipCidrs, row.ipCidrs), wish.ipCidrs) ||
    isMore(wish.rpm, row.rpm) ||
    isMore(wish.concurrency, row.concurrency)
  )
}

const isOther = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join('\n') !== [...b].sort().join('\n')
