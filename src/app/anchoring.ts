/** Makes what anchors need: the chain, the registry, and the account that pays. */
import type { Config } from '../config/config.ts'
import { openAnchoring } from '../proof/anchors/anchoring.ts'
import type { Sender } from '../proof/anchors/sender.ts'
import { type AnchorStore, anchorStore } from '../proof/anchors/store.ts'
import { rpcChain } from '../proof/chain/rpc.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { toChecksumAddress } from '../verify/address.ts'
import type { Deps } from './deps-port.ts'

type Needs = Pick<Deps, 'checkpoints' | 'clock' | 'leaseClock' | 'logs' | 'random'> & {
  db: Db
  /** This process among the nodes of one database. */
  node: string
  sender: Sender | undefined
  /** All keys that ever signed receipts here. */
  signerAddresses: readonly string[]
}

/**
 * The chain of a configuration and what goes there.
 * @throws Error when the configuration names another registry than the one that the log is in, or
 * when one key signs receipts and pays for anchors.
 */
export async function makeAnchoring(
  config: Config,
  needs: Needs,
): Promise<Pick<Deps, 'chain' | 'secondChain' | 'anchors' | 'anchoring'>> {
  const { db, node, sender, signerAddresses, ...deps } = needs
  if (sender && signerAddresses.includes(sender.address)) throw new Error(oneKey)
  const openChain = (urls: readonly string[]) =>
    urls.length > 0 ? rpcChain({ urls, clock: deps.clock, random: deps.random }) : undefined
  const chain = openChain(config.chain.rpc_urls)
  const secondChain = openChain(config.chain.second_rpc_urls)
  const anchors = anchorStore(db, { clock: deps.leaseClock, node })
  const { registry, min_receipts, max_delay_s, min_interval_s } = config.anchors
  const policy = {
    minReceipts: min_receipts,
    maxDelayMs: max_delay_s * 1000,
    minIntervalMs: min_interval_s * 1000,
  }
  const configured = registry && toChecksumAddress(registry)
  await assertRegistry(anchors, configured)
  const parts = { policy, chain, sender, configured }
  return { chain, secondChain, anchors, anchoring: openAnchoring({ ...deps, anchors }, parts) }
}

const oneKey =
  'the key that pays for anchors is one that signs receipts; make another for ' +
  'anchors.sender_key_file, so that a thief of one does not have both'

/** @throws Error naming both addresses. */
async function assertRegistry(anchors: AnchorStore, configured: string | undefined): Promise<void> {
  const known = await anchors.registry()
  if (configured === undefined || known === undefined || configured === known) return
  throw new Error(
    `this log is anchored in the registry ${known}, but the configuration names ${configured}; ` +
      'put the right one into [anchors] registry, or leave it out',
  )
}
