/** Deploys an anchor registry, one step a call; an interrupted deployment is resumed. */
import type { Deps } from '../../app/deps-port.ts'
import type { Hex } from '../../kernel/hex.ts'
import type { ChainTxRow } from '../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { carry, place, type SenderDeps, type TransactionContext } from './transact.ts'

export type Deployment = { address: string; txHash: string; gasUsed: bigint }

/** The subject of deployments among the stored transactions. */
const subject = 'AnchorRegistry'

/**
 * Sends the deployment, or follows what was sent, or returns the deployed contract.
 * @throws Error if it failed or the sender cannot pay for it.
 */
export async function deployStep(
  deps: SenderDeps,
  desk: Omit<TransactionContext, 'lease'>,
  bytecode: Hex,
): Promise<Deployment | undefined> {
  const { anchors, health } = deps
  const { chain, sender } = desk
  const nonce = await chain.nonce(sender.address)
  const done = await findDeployed(deps, desk, await anchors.txsFor('deploy', subject))
  if (done) return done
  const lease = await anchors.takeLease()
  if (!lease) return undefined
  const waiting = await anchors.txsWith(sender.address, nonce)
  if (waiting.length > 0) {
    await carry(deps, { ...desk, lease }, waiting)
    return undefined
  }
  const order = { purpose: 'deploy', subject, data: bytecode } as const
  if (await place(deps, { ...desk, lease }, nonce, order)) return undefined
  throw new Error(
    health.anchors.trouble === 'no_funds'
      ? `${sender.address} cannot pay for it on chain 4663: it has ${health.anchors.balanceWei} wei`
      : 'the chain would reject the contract',
  )
}

async function findDeployed(
  { log }: Pick<Deps, 'log'>,
  { chain }: Pick<TransactionContext, 'chain'>,
  txs: readonly ChainTxRow[],
): Promise<Deployment | undefined> {
  for (const { hash } of txs) {
    const receipt = await chain.receipt(hash)
    if (receipt?.status === 'reverted') log.warn('registry.not_deployed')
    if (receipt?.status !== 'success' || receipt.contractAddress === null) continue
    if ((await chain.code(receipt.contractAddress)) === '0x') continue
    const address = toChecksumAddress(receipt.contractAddress)
    return { address, txHash: hash, gasUsed: receipt.gasUsed }
  }
  return undefined
}
