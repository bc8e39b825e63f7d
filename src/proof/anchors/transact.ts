/** Signs, stores and sends transactions to the registry, and raises fees of slow ones. */
import { parseTransaction } from 'viem'
import type { Deps } from '../../app/deps-port.ts'
import { type Chain, ChainReverted, type Fees } from '../../kernel/chain.ts'
import type { Hex } from '../../kernel/hex.ts'
import type { Lease } from '../../storage/db/engine/lease.ts'
import type { AnchorRow, ChainTxRow } from '../../storage/db/schema/schema.ts'
import { registryErrorOf } from './registry.ts'
import type { Sender } from './sender.ts'

export type SenderDeps = Pick<Deps, 'anchors' | 'health' | 'clock' | 'log'>

/** The chain, the sender and the worker's lease. */
export type TransactionContext = { chain: Chain; sender: Sender; lease: Lease }

/** A call to send. Without `to` it creates a contract. */
export type Order = {
  purpose: ChainTxRow['purpose']
  /** The id of an anchor, the address of a signer or the origin of a log. */
  subject: string
  to?: string
  data: Hex
  /** The anchor whose size and root it carries. */
  anchor?: Pick<AnchorRow, 'id' | 'size' | 'prevSize' | 'root'>
}

/** After this time unmined, the same bytes are sent again: a server may have lost them. In ms. */
const resendAfterMs = 60_000
/** After this time unmined, the transaction is signed again with higher fees. In ms. */
const bumpAfterMs = 180_000
/** Fees of a replacement in percent of the original; servers require at least 110. */
const bumpPercent = 125n
/** The highest fee per gas ever offered: 500 gwei. */
const maxFeeWei = 500_000_000_000n
/** The gas limit in percent of the estimate, which is for the previous block. */
const gasPercent = 130n
/** A balance that pays for fewer transactions is low. */
const lowCount = 20n

/**
 * Signs an order with the sender's next nonce, stores it and sends it. Returns false, without
 * signing, if it would revert or cannot be paid; the health says why.
 */
export async function place(
  deps: SenderDeps,
  { chain, sender, lease }: TransactionContext,
  nonce: number,
  order: Order,
): Promise<boolean> {
  const { purpose, subject, anchor, ...call } = order
  const gas = await estimate(deps, chain, { from: sender.address, ...call }, purpose)
  if (gas === undefined) return false
  const fees = await chain.fees()
  if (!(await canPay(deps, chain, sender, gas * fees.maxFeeWei))) return false
  const { raw, hash } = sender.sign({ nonce, gas, fees, ...call })
  const tx = txOf(deps, { sender: sender.address, nonce, purpose, subject, raw, hash, gas }, fees)
  await deps.anchors.writeAhead(lease, tx, anchor)
  deps.log.info('chain.transaction', { purpose, subject, nonce })
  await send(deps, { chain, sender, lease }, tx)
  return true
}

/**
 * Follows unmined transactions of the sender's next nonce, newest first: sends, resends, or signs
 * again with higher fees.
 */
export async function carry(
  deps: SenderDeps,
  desk: TransactionContext,
  [newest]: readonly ChainTxRow[],
): Promise<void> {
  if (!newest) return
  const now = deps.clock.now()
  if (newest.sentAt === null) return send(deps, desk, newest)
  if (now - newest.createdAt >= bumpAfterMs) {
    const bumped = await bump(deps, desk, newest)
    if (bumped) return send(deps, desk, bumped)
  }
  if (now - newest.sentAt >= resendAfterMs) await send(deps, desk, newest)
}

/** Checks whether the sender can pay, and records it in the health. */
export async function canPay(
  { health, log }: Pick<Deps, 'health' | 'log'>,
  chain: Chain,
  { address }: Pick<Sender, 'address'>,
  costWei: bigint,
): Promise<boolean> {
  const balanceWei = await chain.balance(address)
  const isEmpty = balanceWei < costWei
  if (isEmpty && health.anchors.trouble !== 'no_funds') {
    log.warn('anchors.no_funds', { sender: address, balance_wei: balanceWei, needed_wei: costWei })
  }
  const trouble = isEmpty ? 'no_funds' : null
  health.anchors = { trouble, balanceWei, isLow: balanceWei < costWei * lowCount }
  return !isEmpty
}

/** Undefined if the call would revert; then it is not sent. */
async function estimate(
  { health, log }: SenderDeps,
  chain: Chain,
  call: Parameters<Chain['estimateGas']>[0],
  purpose: string,
): Promise<bigint | undefined> {
  try {
    return ((await chain.estimateGas(call)) * gasPercent) / 100n
  } catch (error) {
    if (!(error instanceof ChainReverted)) throw error
    if (health.anchors.trouble !== 'refused') {
      const reason = registryErrorOf(error.data) ?? error.data
      log.error('anchors.refused', new Error(`the registry would refuse to ${purpose}: ${reason}`))
    }
    health.anchors = { ...health.anchors, trouble: 'refused' }
    return undefined
  }
}

async function send(deps: SenderDeps, desk: TransactionContext, tx: ChainTxRow): Promise<void> {
  const outcome = await desk.chain.send(tx.raw as Hex)
  if (outcome === 'no_funds') return void (await canPay(deps, desk.chain, desk.sender, costOf(tx)))
  if (outcome === 'underpriced') {
    // It stays unsent; the replacement is sent by the next pass.
    await bump(deps, desk, tx)
    return
  }
  await deps.anchors.markSent(desk.lease, tx.hash)
}

/** Signs and stores it again with higher fees; undefined at the highest fee. */
async function bump(
  deps: SenderDeps,
  { chain, sender, lease }: TransactionContext,
  tx: ChainTxRow,
): Promise<ChainTxRow | undefined> {
  const fees = raise(await chain.fees(), tx)
  if (fees.maxFeeWei > maxFeeWei) return undefined
  const { purpose, subject, nonce } = tx
  const gas = BigInt(tx.gas)
  const { to, data = '0x' } = parseTransaction(tx.raw as Hex)
  const call = to ? { to, data } : { data }
  const { raw, hash } = sender.sign({ nonce, gas, fees, ...call })
  const bumped = txOf(
    deps,
    { sender: sender.address, nonce, purpose, subject, raw, hash, gas },
    fees,
  )
  await deps.anchors.writeAhead(lease, bumped)
  deps.log.warn('chain.fees_raised', { purpose, subject, nonce, max_fee_wei: fees.maxFeeWei })
  return bumped
}

/** The current fees, or the least that replaces the transaction if those are higher. */
function raise(usual: Fees, tx: ChainTxRow): Fees {
  const above = (wei: bigint) => (wei * bumpPercent) / 100n + 1n
  const most = (a: bigint, b: bigint) => (a > b ? a : b)
  return {
    maxFeeWei: most(usual.maxFeeWei, above(BigInt(tx.maxFeeWei))),
    priorityFeeWei: most(usual.priorityFeeWei, above(BigInt(tx.priorityFeeWei))),
  }
}

type SignedTransaction = Pick<
  ChainTxRow,
  'sender' | 'nonce' | 'purpose' | 'subject' | 'raw' | 'hash'
>

const txOf = (
  { clock }: Pick<Deps, 'clock'>,
  { gas, ...signed }: SignedTransaction & { gas: bigint },
  { maxFeeWei, priorityFeeWei }: Fees,
): ChainTxRow => ({
  ...signed,
  gas: Number(gas),
  maxFeeWei: String(maxFeeWei),
  priorityFeeWei: String(priorityFeeWei),
  createdAt: clock.now(),
  sentAt: null,
})

const costOf = ({ gas, maxFeeWei }: ChainTxRow): bigint => BigInt(gas) * BigInt(maxFeeWei)
