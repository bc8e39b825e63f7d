import type { Deps } from '../../app/deps-port.ts'
import type { Doubt } from '../../front/status/health-port.ts'
import { type Chain, ChainUnavailable } from '../../kernel/chain.ts'
import type { DepositRow } from '../../storage/db/schema.ts'
import type { DepositPolicy, Heads } from './deposit.ts'
import { type On, type Standing, standingOf, standsAsBefore } from './reorg.ts'

/** What the second server has of a transaction. */
type Theirs = Standing | 'absent' | 'down'

type Asked = Pick<On, 'policy'> & { second: Chain | undefined }

export type Second = ReturnType<typeof secondServer>

/**
 * The server of somebody else that has to agree before a large deposit is credited. It is asked for
 * its heads once, when it is needed first.
 */
export function secondServer({ second, policy }: Asked) {
  let heads: Promise<Heads | undefined> | undefined
  const needs = (row: DepositRow): boolean => second !== undefined && isLarge(row, policy)
  return {
    /** What it has of the transactions of those deposits that need its word; by their hashes. */
    async lookUp(rows: readonly DepositRow[]): Promise<Map<string, Theirs>> {
      if (!second) return new Map()
      const hashes = [...new Set(rows.filter(needs).map(({ txHash }) => txHash))]
      const found = await Promise.all(
        hashes.map((hash) => orDown(standingOf({ chain: second, policy }, hash))),
      )
      return new Map(hashes.map((hash, i) => [hash, found[i] ?? 'absent']))
    },
    /**
     * What speaks against a credit; undefined when the server agrees or is not asked. By
     * `isDeepEnough` the caller says what it takes of the heads that it names.
     */
    async doubt(
      row: DepositRow,
      ours: Standing,
      theirs: Theirs | undefined,
      isDeepEnough: (heads: Heads) => Promise<boolean>,
    ): Promise<Doubt | undefined> {
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

/** Asked for from the end: what is final now was safe before. */
export async function headsOf(chain: Pick<Chain, 'block'>): Promise<Heads> {
  const { number: finalized } = await chain.block('finalized')
  const { number: safe } = await chain.block('safe')
  const { number: latest } = await chain.block('latest')
  return { latest, safe, finalized }
}

/** By the time of its block a deposit counts for a day. */
const isSame = (row: DepositRow, ours: Standing, theirs: Standing): boolean =>
  standsAsBefore(row, theirs) && theirs.blockTime === ours.blockTime

/** Its troubles are an answer: they must not keep small deposits from their credit. */
async function orDown<T>(work: Promise<T>): Promise<T | 'down'> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || error.reason === 'closed') throw error
    return 'down'
  }
}

type Needs = Pick<Deps, 'deposits' | 'log'>

/** Lets a deposit wait and says why, once; a contradiction is an error in the log. */
export async function holdBack(
  { deposits, log }: Needs,
  { lease }: Pick<On, 'lease'>,
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
