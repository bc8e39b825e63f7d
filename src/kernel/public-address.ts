/** Tells addresses of the public internet from private ones. */
import { type Address, parseAddress } from './network-address.ts'
import { type Block, isWithin, parseBlock } from './network-block.ts'

const blocks = (...entries: string[]): Block[] => entries.flatMap((one) => parseBlock(one) ?? [])

/** IPv4 blocks that are not public: those the IANA set aside, metadata services, multicast. */
const special4 = blocks(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
)

/** The one IPv6 block of public addresses. It contains neither mapped IPv4 nor NAT64. */
const global6 = blocks('2000::/3')
/** Tunnels to IPv4 (Teredo, 6to4), identifiers that are not addresses, and documentation. */
const special6 = blocks('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20')

/** Whether an address, as a resolver gives it, is one of the public internet. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text)
  if (!address) return false
  // IPv4 in IPv6 is never needed, and one more way to spell a private address.
  if (address.kind === 4) return !text.includes(':') && !isIn(address, special4)
  return isIn(address, global6) && !isIn(address, special6)
}

/** Whether an address lies in one of these networks. */
export const isIn = (address: Address, networks: readonly Block[]): boolean =>
  networks.some((network) => isWithin(address, network))
