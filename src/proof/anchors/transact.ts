import { parseTransaction } from 'viem'
import type { Deps } from '../../app/deps-port.ts'
import { type Chain, ChainReverted, type Fees } from '../../kernel/chain.ts'
import type { Hex } from '../../kernel/hex.ts'
import type { Lease } from '../../storage/db/lease.ts'
import type { AnchorRow, ChainTxRow } from '../../storage/db/schema.ts'
import { registryErrorOf } from './registry.ts'
import type { Sender } from './sender.ts'

type Needs = Pick<Deps, 'anchors' | 'health' | 'clock' | 'log'>

/** Who sends, on which chain, by which right. */
export type Desk = { chain: Chain; sender: Sender; lease: Lease }

/** What a transaction is to do. Without `to` it makes a contract. */
export type Order = {
  purpose: ChainTxRow['purpose']
  /** The id of an anchor, the address of a signer, the origin of a log. */
  subject: string
  to?: string
  data: Hex
  /** The anchor whose size and root it carries. */
  anchor?: Pick<AnchorRow, 'id' | 'size' | 'prevSize' | 'root'>
}

/** After this long without a block the same bytes are sent again: a server may have lost them. */
const resendAfterMs = 60_000
/** After this long the transaction is signed again, with higher fees. */
const bumpAfterMs = 180_000
/** Fees of one that replaces another, in percent of its; servers want at least 110. */
const bumpPercent = 125n
/** Most that is ever offered for a unit of gas: 500 gwei. */
const maxFeeWei = 500_000_000_000n
/** Gas offered, in percent of the estimate, which is of the block before. */
const gasPercent = 130n
/** A balance for fewer transactions than this is low. */
const lowCount = 20n

/**
 * Signs an order with the sender's next nonce, writes it down, and sends it. False when it would
 * be refused or cannot be paid: then nothing was signed, and the health says why.
 */
export async function place(
  deps: Needs,
  { chain, sender, lease }: Desk,
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
 * Sees to what was signed with the sender's next nonce, newest first, and is in no block yet: sends
 * it, sends it again, or signs it again with higher fees.
 */
export async function carry(
  deps: Needs,
  desk: Desk,
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

/** Looks whether the sender can still pay for transactions, and says so in the health. */
export async function canPay(
  { health, log }: Pick<Needs, 'health' | 'log'>,
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

/** Undefined when the registry would refuse: that costs nothing, and is not tried for real. */
async function estimate(
  { health, log }: Needs,
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

async function send(deps: Needs, desk: Desk, tx: ChainTxRow): Promise<void> {
  const outcome = await desk.chain.send(tx.raw as Hex)
  if (outcome === 'no_funds') return void (await canPay(deps, desk.chain, desk.sender, costOf(tx)))
  if (outcome === 'underpriced') {
    // It stays unsent; what replaces it goes out with the next look.
    await bump(deps, desk, tx)
    return
  }
  await deps.anchors.markSent(desk.lease, tx.hash)
}

/** The same transaction with higher fees, written down; undefined at the most that is offered. */
async function bump(
  deps: Needs,
  { chain, sender, lease }: Desk,
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

/** What is usual now, but enough to replace the one before. */
function raise(usual: Fees, tx: ChainTxRow): Fees {
  const above = (wei: bigint) => (wei * bumpPercent) / 100n + 1n
  const most = (a: bigint, b: bigint) => (a > b ? a : b)
  return {
    maxFeeWei: most(usual.maxFeeWei, above(BigInt(tx.maxFeeWei))),
    priorityFeeWei: most(usual.priorityFeeWei, above(BigInt(tx.priorityFeeWei))),
  }
}

type Signed = Pick<ChainTxRow, 'sender' | 'nonce' | 'purpose' | 'subject' | 'raw' | 'hash'>

const txOf = (
  { clock }: Pick<Needs, 'clock'>,
  { gas, ...signed }: Signed & { gas: bigint },
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
