/** Keeps the registry in line with the log: the log is open there and its signers match. */
import type { Deps } from '../../app/deps-port.ts'
import type { SignerRow } from '../../storage/db/schema/schema.ts'
import type { Place } from './anchoring.ts'
import { addSignerCall, openCall, readOwner, readSigner, retireSignerCall } from './registry.ts'
import { type Order, place, type TransactionContext } from './transact.ts'

/** Returns true if nothing is left to do; else one transaction was placed or is blocked. */
export async function keepRegistry(
  deps: Deps,
  desk: TransactionContext,
  { registry, id }: Place,
  nonce: number,
): Promise<boolean> {
  const { logs, signers, signer, anchors, health, log } = deps
  const { origin } = logs.current
  // Before its first leaf, a log may still be renamed.
  if ((await deps.logStore.size()) === 0) return false
  const rows = signers.of(origin)
  const owner = await readOwner(desk.chain, registry, id)
  await anchors.ensureRegistry(registry)
  if (owner === undefined) {
    const first = rows[0]?.address ?? signer.address
    const order = { purpose: 'open', subject: origin, data: openCall(origin, first) } as const
    await place(deps, desk, nonce, { ...order, to: registry })
    return false
  }
  if (owner !== desk.sender.address) {
    if (health.anchors.trouble !== 'not_owner') {
      const message = `the log ${origin} belongs to ${owner} in the registry, not to the sender`
      log.error('anchors.not_owner', new Error(`${message} ${desk.sender.address}`))
    }
    health.anchors = { ...health.anchors, trouble: 'not_owner' }
    return false
  }
  if (health.anchors.trouble === 'not_owner') health.anchors.trouble = null
  await anchors.ensureOwner(origin, owner)
  for (const row of rows) {
    const order = await orderFor(desk, { registry, id }, row)
    if (!order) continue
    await place(deps, desk, nonce, { ...order, to: registry })
    return false
  }
  return true
}

/** The call that brings one signer in line; undefined if none is needed. */
async function orderFor(
  { chain }: Pick<TransactionContext, 'chain'>,
  { registry, id }: Pick<Place, 'registry' | 'id'>,
  { address, fromIndex, untilIndex }: SignerRow,
): Promise<Pick<Order, 'purpose' | 'subject' | 'data'> | undefined> {
  const range = await readSigner(chain, registry, { id, signer: address })
  if (!range) {
    const data = addSignerCall(id, address, fromIndex)
    return { purpose: 'add_signer', subject: address, data }
  }
  // The registry accepts an earlier retirement, never a later one.
  if (untilIndex === null || range.until <= BigInt(untilIndex)) return undefined
  const data = retireSignerCall(id, address, untilIndex)
  return { purpose: 'retire_signer', subject: address, data }
}
