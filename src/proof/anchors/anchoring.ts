import type { Deps } from '../../app/deps-port.ts'
import type { Chain } from '../../kernel/chain.ts'
import type { Hex } from '../../kernel/hex.ts'
import { registryLogId } from '../../verify/check-anchor.ts'
import type { ProofAnchor } from '../../verify/proof.ts'
import type { AnchorPolicy } from './anchor.ts'
import { standingOf } from './anchor-standing.ts'
import type { Sender } from './sender.ts'

/** Where the logs of this database stand on the chain, and what it takes to get them there. */
export type Anchoring = {
  policy: AnchorPolicy
  /** Undefined without `chain.rpc_urls`: then nothing ever asks a chain. */
  chain: Chain | undefined
  /** Undefined without `anchors.sender_key_file`: then nothing is sent. */
  sender: Sender | undefined
  /** Whether new heads go to the chain: with a chain, a sender and a registry, never without. */
  isOn(): Promise<boolean>
  /** The contract; undefined before there is one. A running server finds a deployed one here. */
  registry(): Promise<string | undefined>
  /** Where the log of an origin is, or is going to be; undefined when it is not on a chain. */
  placeOf(origin: string): Promise<Place | undefined>
  /** The smallest size on the chain that covers a leaf of a log; undefined while there is none. */
  sizeOver(origin: string, index: number): Promise<number | undefined>
  /** How a size of a log stands on the chain. */
  standingOf(head: { origin: string; size: number }): Promise<ProofAnchor>
}

/** A log in a registry. Addresses in EIP-55. */
export type Place = {
  registry: string
  /** Who opened the log, or will. */
  owner: string
  /** The log's id there. */
  id: Hex
}

/** How long it is believed that there is no registry, in ms: every proof asks. */
const againMs = 500

export function openAnchoring(
  deps: Pick<Deps, 'anchors' | 'checkpoints' | 'clock' | 'logs'>,
  parts: Pick<Anchoring, 'policy' | 'chain' | 'sender'> & { configured: string | undefined },
): Anchoring {
  const { configured, ...rest } = parts
  // Both never change once they are known.
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
    standingOf: (head) => standingOf(deps, anchoring, head),
  }
  return anchoring
}
