import { isIP } from 'node:net'

/** An address as 16-bit groups: two of IPv4, eight of IPv6. IPv4-mapped ones are IPv4. */
export type Address = { kind: 4 | 6; groups: number[] }

/** What of a server tells who is at the other end of the connection. */
export type PeerSource = { requestIP(request: Request): { address: string } | null }

/** Whether an address belongs to a proxy whose X-Forwarded-For is believed. */
export type TrustedProxies = (address: Address) => boolean

/** Stands for a caller without an address, so that all of those share one limit. */
export const unknownAddress = 'unknown'

/**
 * The address of whoever called: the peer, unless that is a trusted proxy; then the right-most
 * address of X-Forwarded-For that is not one. A chain that cannot be read falls back to the peer.
 */
export function clientAddress(
  request: Request,
  server: PeerSource | null,
  trusted: TrustedProxies,
): string {
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

/** What one client is counted under: an IPv4 address, or the /64 an IPv6 host can roam in. */
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
  const blocks = entries.map(parseBlock)
  if (blocks.length === 0) return () => false
  return (address) => blocks.some((block) => within(address, block))
}

/** Reads an IPv4 or IPv6 address, with a zone dropped and brackets allowed; undefined otherwise. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const kind = isIP(bare)
  if (kind === 4) return { kind: 4, groups: ipv4Groups(bare) }
  if (kind !== 6) return undefined
  const groups = ipv6Groups(bare.replace(/%.*$/, ''))
  const mapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  return mapped ? { kind: 4, groups: groups.slice(6) } : { kind: 6, groups }
}

export function formatAddress({ kind, groups }: Address): string {
  if (kind === 4) return groups.flatMap((group) => [group >> 8, group & 255]).join('.')
  return groups.map((group) => group.toString(16)).join(':')
}

type Block = Address & { bits: number }

function parseBlock(entry: string): Block {
  const [text = '', length, ...rest] = entry.split('/')
  const address = parseAddress(text)
  const most = address?.kind === 4 ? 32 : 128
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : -1
  if (!address || rest.length > 0 || bits < 0 || bits > most) {
    throw new Error(`trusted_proxies: "${entry}" is no address or CIDR block`)
  }
  return { ...address, bits }
}

function within(address: Address, block: Block): boolean {
  if (address.kind !== block.kind) return false
  return block.groups.every((group, i) => {
    const bits = Math.min(16, Math.max(0, block.bits - 16 * i))
    return (group ^ (address.groups[i] ?? 0)) >> (16 - bits) === 0
  })
}

/** `1.2.3.4:80` and `[::1]:80` without the port that some proxies write. */
function withoutPort(text: string): string {
  return /^(\d+\.\d+\.\d+\.\d+|\[[^\]]*\]):\d{1,5}$/.exec(text)?.[1] ?? text
}

function ipv4Groups(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
  return [(a << 8) | b, (c << 8) | d]
}

function ipv6Groups(text: string): number[] {
  const [head = '', tail] = text.split('::')
  const front = hextets(head)
  const back = tail === undefined ? [] : hextets(tail)
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back]
}

const hextets = (text: string): number[] =>
  text === ''
    ? []
    : text
        .split(':')
        .flatMap((part) => (part.includes('.') ? ipv4Groups(part) : [parseInt(part, 16)]))
