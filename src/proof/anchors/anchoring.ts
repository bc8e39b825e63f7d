/** The state of this database's logs on the chain, and the means to anchor them. */
import { type Chain, chainId } from '../../kernel/chain.ts'
import { type Clock, toRfc3339 } from '../../kernel/clock.ts'
import type { Hex } from '../../kernel/hex.ts'
import type { AnchorRow } from '../../storage/db/schema/schema.ts'
import { registryLogId } from '../../verify/check-anchor.ts'
import type { ProofAnchor } from '../../verify/proof.ts'
import type { Logs } from '../log/logs.ts'
import type { CheckpointStore } from '../log/store/checkpoint.ts'
import type { AnchorPolicy } from './anchor.ts'
import type { Sender } from './sender.ts'
import type { AnchorStore } from './store.ts'

export type Anchoring = {
  policy: AnchorPolicy
  /** Undefined without `chain.rpc_urls`: no chain is ever asked. */
  chain: Chain | undefined
  /** Undefined without `anchors.sender_key_file`: nothing is sent. */
  sender: Sender | undefined
  /** Whether new heads are anchored: there is a chain, a sender and a registry. */
  isOn(): Promise<boolean>
  /** The contract, also one deployed while the server runs; undefined before that. */
  registry(): Promise<string | undefined>
  /** The present or future place of a log on the chain; undefined if it will not be there. */
  placeOf(origin: string): Promise<Place | undefined>
  /** The smallest anchored size that covers a leaf; undefined until there is one. */
  sizeOver(origin: string, index: number): Promise<number | undefined>
  /** The anchor of a size of a log, or how far it has come, for a proof. */
  anchorFor(head: { origin: string; size: number }): Promise<ProofAnchor>
}

/** A log in a registry. Addresses in EIP-55. */
export type Place = {
  registry: string
  /** The address that opened the log, or will. */
  owner: string
  /** The log's id there. */
  id: Hex
}

/** How long the absence of a registry is cached, in ms; every proof asks. */
const againMs = 500

type Stores = { anchors: AnchorStore; checkpoints: CheckpointStore; clock: Clock; logs: Logs }

export function openAnchoring(
  deps: Stores,
  parts: Pick<Anchoring, 'policy' | 'chain' | 'sender'> & { configured: string | undefined },
): Anchoring {
  const { configured, ...rest } = parts
  // Neither changes once known.
  let known: string | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  const owners = new Map<string, string>()

  const registry = async (): Promise<string | undefined> => {
    const now = deps.clock.monotonic()
    if (known === undefined && now - askedAt > againMs) {
      askedAt = now
      known = await deps.anchors.registry()
    }
    return known ?? configured
  }
  const ownerOf = async (origin: string): Promise<string | undefined> => {
    const owner = owners.get(origin) ?? (await deps.anchors.owner(origin))
    if (owner !== undefined) owners.set(origin, owner)
    return owner
  }
  const anchoring: Anchoring = {
    ...rest,
    registry,
    isOn: async () => Boolean(parts.chain && parts.sender && (await registry())),
    placeOf: async (origin) => {
      const contract = await registry()
      if (contract === undefined) return undefined
      const owner = (await ownerOf(origin)) ?? (parts.chain && parts.sender?.address)
      if (owner === undefined) return undefined
      return { registry: contract, owner, id: registryLogId(contract, owner, origin) }
    },
    sizeOver: async (origin, index) => {
      const place = await anchoring.placeOf(origin)
      return place && (await deps.anchors.covering(origin, index))
    },
    anchorFor: (head) => anchorFor(deps, anchoring, head),
  }
  return anchoring
}

async function anchorFor(
  deps: Stores,
  anchoring: Pick<Anchoring, 'isOn' | 'placeOf' | 'policy'>,
  { origin, size }: { origin: string; size: number },
): Promise<ProofAnchor> {
  const at = await anchoring.placeOf(origin)
  if (!at) return { status: 'disabled' }
  const place = { chain_id: chainId, registry: at.registry, log_owner: at.owner }
  const row = await deps.anchors.at(origin, size)
  const mined = row && minedView(row)
  if (mined) return { ...place, size: String(size), ...mined }
  if (!(await anchoring.isOn())) return { status: 'disabled' }
  const newest = await deps.anchors.newest(origin)
  // A larger head is anchored, or the log is closed: this size will never be anchored.
  const isOver = origin !== deps.logs.current.origin || (newest?.size ?? 0) >= size
  if (isOver) return { status: 'superseded', ...place, expected_by: null }
  const status = row?.status === 'submitted' ? 'submitted' : 'pending'
  const oldest = await deps.checkpoints.firstOver(origin, newest?.size ?? 0)
  const by = oldest && oldest.timestamp + anchoring.policy.maxDelayMs
  const isPast = by === undefined || by < deps.clock.now()
  return { status, ...place, expected_by: isPast ? null : toRfc3339(by) }
}

/** The place of an anchor on the chain; undefined until it is mined. */
function minedView({ status, txHash, blockNumber, blockHash, blockTime }: AnchorRow) {
  if (status !== 'confirmed' && status !== 'final') return undefined
  if (txHash === null || blockNumber === null || blockHash === null || blockTime === null) {
    throw new Error('the row of an anchor on the chain lacks its block')
  }
  return {
    status,
    tx_hash: txHash,
    block_number: String(blockNumber),
    block_hash: blockHash,
    block_time: toRfc3339(blockTime),
  }
}
