/** A second RPC server that must agree before a large deposit is credited. */
import type { Deps } from '../../app/deps-port.ts'
import type { Doubt } from '../../front/status/health-port.ts'
import { type Chain, ChainUnavailable } from '../../kernel/chain.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'
import type { DepositPolicy, Heads } from './deposit.ts'
import { type ChainView, type Inclusion, inclusionOf, isUnmoved } from './reorg.ts'

/** A transaction as the second server has it. */
type SecondView = Inclusion | 'absent' | 'down'

type CrossCheckDeps = Pick<ChainView, 'policy'> & { second: Chain | undefined }

export type CrossCheck = {
  /** Looks up the transactions of large deposits, by their hashes. */
  lookUp(rows: readonly DepositRow[]): Promise<Map<string, SecondView>>
  /** Why a deposit must wait; undefined if the server agrees or the deposit is not large. */
  doubt(
    row: DepositRow,
    ours: Inclusion,
    theirs: SecondView | undefined,
    isDeepEnough: (heads: Heads) => Promise<boolean>,
  ): Promise<Doubt | undefined>
}

/** Reads the server's heads once, when first needed. */
export function crossCheck({ second, policy }: CrossCheckDeps): CrossCheck {
  let heads: Promise<Heads | undefined> | undefined
  const needs = (row: DepositRow): boolean => second !== undefined && isLarge(row, policy)
  return {
    async lookUp(rows) {
      if (!second) return new Map()
      const hashes = [...new Set(rows.filter(needs).map(({ txHash }) => txHash))]
      const found = await Promise.all(
        hashes.map((hash) => orDown(inclusionOf({ chain: second, policy }, hash))),
      )
      return new Map(hashes.map((hash, i) => [hash, found[i] ?? 'absent']))
    },
    async doubt(row, ours, theirs, isDeepEnough) {
      if (!second || !needs(row)) return undefined
      heads ??= orDown(headsOf(second)).then((found) => (found === 'down' ? undefined : found))
      const known = await heads
      if (!known || theirs === 'down') return 'second_down'
      if (!(await isDeepEnough(known))) return 'second_behind'
      const agrees = typeof theirs === 'object' && isSame(row, ours, theirs)
      return agrees ? undefined : 'second_differs'
    },
  }
}

const isLarge = ({ amount }: DepositRow, { secondAboveNusd }: DepositPolicy): boolean =>
  amount !== null && amount > secondAboveNusd

/** Read from the deepest to the newest, so that finalized ≤ safe ≤ latest. */
export async function headsOf(chain: Pick<Chain, 'block'>): Promise<Heads> {
  const { number: finalized } = await chain.block('finalized')
  const { number: safe } = await chain.block('safe')
  const { number: latest } = await chain.block('latest')
  return { latest, safe, finalized }
}

/** The time of the block decides to which day the deposit counts. */
const isSame = (row: DepositRow, ours: Inclusion, theirs: Inclusion): boolean =>
  isUnmoved(row, theirs) && theirs.blockTime === ours.blockTime

/** Its errors are an answer: they must not delay small deposits. */
async function orDown<T>(work: Promise<T>): Promise<T | 'down'> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || error.reason === 'closed') throw error
    return 'down'
  }
}

/** Marks a deposit as waiting, and logs the reason once; a contradiction is an error. */
export async function holdBack(
  { deposits, log }: Pick<Deps, 'deposits' | 'log'>,
  { lease }: Pick<ChainView, 'lease'>,
  row: DepositRow,
  reason: Doubt,
): Promise<void> {
  if (row.status === 'confirming' && row.reason === reason) return
  await deposits.holdBack(lease, row, reason)
  const names = { deposit: row.id, tx: row.txHash, reason }
  if (reason === 'second_behind') return log.info('deposit.held_back', names)
  if (reason === 'second_down') return log.warn('deposit.held_back', names)
  const what = `the second RPC server does not have the deposit ${row.id}; it is not credited`
  log.error('deposit.disputed', new Error(what), names)
}
