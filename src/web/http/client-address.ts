/** Tells the address of a client, behind trusted proxies too. */
import { type Address, formatAddress, parseAddress } from '../../kernel/network-address.ts'
import { type Block, isWithin, parseBlock } from '../../kernel/network-block.ts'

/** The part of Bun's server that knows the address of a request's peer. */
export type PeerSource = { requestIP(request: Request): { address: string } | null }

/** Whether an address belongs to a proxy whose X-Forwarded-For is believed. */
export type TrustedProxies = (address: Address) => boolean

/** Stands for a caller without an address, so that all of those share one limit. */
export const unknownAddress = 'unknown'

const actors = new WeakMap<Request, Request>()

/** Notes that a request which this process makes to itself is made on behalf of `outer`. */
export const actFor = (inner: Request, outer: Request): void => void actors.set(inner, outer)

/**
 * The address of the caller: the peer, unless that is a trusted proxy; then the right-most
 * address of X-Forwarded-For that is not one. A chain that cannot be read falls back to the peer.
 */
export function clientAddress(
  asked: Request,
  server: PeerSource | null,
  trusted: TrustedProxies,
): string {
  const request = actors.get(asked) ?? asked
  const text = server?.requestIP(request)?.address
  const peer = text === undefined ? undefined : parseAddress(text)
  if (!peer) return unknownAddress
  if (!trusted(peer)) return formatAddress(peer)
  const chain = request.headers.get('x-forwarded-for')?.split(',') ?? []
  for (const entry of chain.reverse()) {
    const hop = parseAddress(withoutPort(entry.trim()))
    if (!hop) return formatAddress(peer)
    if (!trusted(hop)) return formatAddress(hop)
  }
  return formatAddress(peer)
}

/** The key that limits count a client by: its IPv4 address, or its /64, since IPv6 hosts roam. */
export function rateKey(address: string): string {
  const parsed = parseAddress(address)
  if (!parsed) return unknownAddress
  if (parsed.kind === 4) return formatAddress(parsed)
  return `${parsed.groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/**
 * Reads `trusted_proxies`: addresses and CIDR blocks.
 * @throws Error naming the entry that is neither.
 */
export function trustedProxies(entries: readonly string[]): TrustedProxies {
  const blocks = entries.map(toBlock)
  if (blocks.length === 0) return () => false
  return (address) => blocks.some((block) => isWithin(address, block))
}

function toBlock(entry: string): Block {
  const block = parseBlock(entry)
  if (!block) throw new Error(`trusted_proxies: "${entry}" is not an address or CIDR block`)
  return block
}

/** `1.2.3.4:80` and `[::1]:80` without the port that some proxies write. */
function withoutPort(text: string): string {
  return /^(\d+\.\d+\.\d+\.\d+|\[[^\]]*\]):\d{1,5}$/.exec(text)?.[1] ?? text
}
