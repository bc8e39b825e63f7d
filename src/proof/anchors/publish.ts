/** One pass of the anchor worker: follows sent anchors and sends the next one that is due. */
import type { Deps } from '../../app/deps-port.ts'
import type { Chain } from '../../kernel/chain.ts'
import { type Hex, toHex } from '../../kernel/hex.ts'
import type { Lease } from '../../storage/db/engine/lease.ts'
import type { AnchorRow } from '../../storage/db/schema/schema.ts'
import { signCheckpoint } from '../log/checkpoint.ts'
import { isUnprovable } from '../log/damage.ts'
import { consistencyOf } from '../log/proof.ts'
import { type Backlog, isDue } from './anchor.ts'
import { followAnchors } from './follow.ts'
import { anchorCall } from './registry.ts'
import { canPay, carry, place, type TransactionContext } from './transact.ts'
import { keepRegistry } from './upkeep.ts'
import { type ChainSighting, noteTrouble, watchChain } from './watch.ts'

/**
 * Checks that the chain's log is still ours. At most one transaction is pending, and each is stored
 * before it is sent. A chain that does not answer changes nothing.
 */
export async function keepAnchored(deps: Deps): Promise<void> {
  const seen = await watchChain(deps)
  const { sender } = deps.anchoring
  if (!seen || !sender) return
  const lease = await deps.anchors.takeLease()
  if (!lease) return
  try {
    await publish(deps, { chain: seen.chain, sender, lease }, seen)
  } catch (error) {
    noteTrouble(deps, error)
  }
}

async function publish(deps: Deps, desk: TransactionContext, seen: ChainSighting): Promise<void> {
  const { anchors, health } = deps
  const { chain, sender, lease } = desk
  const { balanceWei, trouble } = health.anchors
  if (balanceWei === null || trouble === 'no_funds') {
    await canPay(deps, chain, sender, await usualCost(chain))
  }
  const nonce = await chain.nonce(sender.address)
  const { putBack } = await followAnchors(deps, { chain, lease, nonce })
  // It may have been put back because a server lags: the next pass finds out.
  if (putBack) return
  const waiting = await anchors.txsWith(sender.address, nonce)
  if (waiting.length > 0) {
    await noteResubmitted(deps, lease, nonce, waiting[0]?.subject)
    return carry(deps, desk, waiting)
  }
  if (health.log !== 'ok' || health.heads !== 'ok') return
  if (!(await keepRegistry(deps, desk, seen.place, nonce))) return
  const next = (await pending(deps)) ?? (await makeDue(deps, lease, seen))
  if (next) return submit(deps, desk, seen, nonce, next)
  if (health.anchors.trouble === 'refused') health.anchors.trouble = null
}

/** Gas of an anchor of a large log, with a margin. */
const usualGas = 100_000n
const usualCost = async (chain: Chain): Promise<bigint> => (await chain.fees()).maxFeeWei * usualGas

/** Marks an anchor that was put back as sent again with its signed transaction and nonce. */
async function noteResubmitted(
  { anchors }: Deps,
  lease: Lease,
  nonce: number,
  subject: string | undefined,
): Promise<void> {
  const back = (await anchors.open()).find(
    ({ id, status }) => id === subject && status === 'pending',
  )
  if (back) await anchors.resubmit(lease, back.id, nonce)
}

/** The anchor of the current log to send, or to sign again. */
const pending = async ({ anchors, logs }: Deps): Promise<AnchorRow | undefined> =>
  (await anchors.open()).find(
    ({ status, issuer }) => status === 'pending' && issuer === logs.current.origin,
  )

/** Makes the next anchor if it is due and none is pending. */
async function makeDue(
  deps: Deps,
  lease: Lease,
  { head }: ChainSighting,
): Promise<AnchorRow | undefined> {
  const { anchors, anchoring, clock, ids, logs } = deps
  const issuer = logs.current.origin
  const open = await anchors.open()
  if (open.some((row) => row.issuer === issuer && row.status === 'submitted')) return undefined
  if (!isDue(await backlogOf(deps, head.size), anchoring.policy, clock.now())) return undefined
  const latest = await latestHead(deps)
  if (!latest) return undefined
  const row: AnchorRow = {
    id: ids.make('anc'),
    issuer,
    size: latest.size,
    prevSize: head.size,
    root: latest.root,
    status: 'pending',
    createdAt: clock.now(),
    nonce: null,
    submittedAt: null,
    txHash: null,
    blockNumber: null,
    blockHash: null,
    blockTime: null,
    finalizedAt: null,
    error: null,
  }
  await anchors.add(lease, row)
  return row
}

/** The leaves beyond the anchored size. */
export async function backlogOf(
  {
    anchors,
    checkpoints,
    logs,
    logStore,
  }: Pick<Deps, 'anchors' | 'checkpoints' | 'logs' | 'logStore'>,
  anchoredSize: number,
): Promise<Backlog> {
  const { origin } = logs.current
  return {
    leaves: Math.max(0, (await logStore.size()) - anchoredSize),
    oldestAt: (await checkpoints.firstOver(origin, anchoredSize))?.timestamp,
    lastAt: (await anchors.last(origin))?.createdAt,
    wantedAt: await anchors.wantedAt(),
  }
}

/** Sends an anchor over the whole log, or over the size it was signed for before. */
async function submit(
  deps: Deps,
  desk: TransactionContext,
  { place: { registry, id }, head }: ChainSighting,
  nonce: number,
  row: AnchorRow,
): Promise<void> {
  const { anchors, log } = deps
  const signedBefore = (await anchors.txsFor('anchor', row.id)).length > 0
  const sized = signedBefore ? row : await latestHead(deps)
  if (!sized) return
  if (sized.size <= head.size) {
    log.info('anchor.superseded', { anchor: row.id, size: sized.size })
    return anchors.supersede(desk.lease, row.id)
  }
  const path = head.size === 0 ? [] : await pathIfSound(deps, head.size, sized.size)
  if (!path) return
  const data = anchorCall(id, { size: sized.size, root: toHex(sized.root) }, path)
  const anchor = { id: row.id, size: sized.size, prevSize: head.size, root: sized.root }
  await place(deps, desk, nonce, {
    purpose: 'anchor',
    subject: row.id,
    to: registry,
    data,
    anchor,
  })
}

/** The path of an anchor; undefined over a damaged leaf, which the registry would refuse. */
async function pathIfSound(deps: Deps, from: number, to: number): Promise<Hex[] | undefined> {
  try {
    return (await consistencyOf(deps, from, to)).path
  } catch (error) {
    if (isUnprovable(error)) return undefined
    throw error
  }
}

/** The signed head of the current log; undefined if the log diverged. */
async function latestHead(deps: Deps): Promise<Pick<AnchorRow, 'size' | 'root'> | undefined> {
  try {
    return await signCheckpoint(deps)
  } catch (error) {
    if (isUnprovable(error)) return undefined
    throw error
  }
}
