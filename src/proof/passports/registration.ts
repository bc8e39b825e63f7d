/** The ERC-8004 agent registration file of a passport. */
import { chainId } from '../../kernel/chain.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { passportPath } from './passport-view.ts'

/**
 * The agent registration file of ERC-8004 for a passport: what an identity registry's token can
 * point to. It claims no registration and no trust model, because this service makes none; drafts
 * of the standard call the list `endpoints`, later ones `services`, so it is there by both names.
 */
export function toRegistrationFile(row: PassportRow, baseUrl: string) {
  const services = [
    { name: 'passport', endpoint: `${baseUrl}/v1${passportPath(row.handle)}`, version: 'v1' },
    { name: 'web', endpoint: baseUrl + passportPath(row.handle) },
    ...row.links.map((endpoint) => ({ name: 'web', endpoint })),
    ...(row.ownerShown ? [ownerOf(row)] : []),
  ]
  return {
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1' as const,
    name: row.displayName,
    description: row.bio === '' ? `The ${row.kind} @${row.handle} on ${baseUrl}.` : row.bio,
    image: `${baseUrl}${passportPath(row.handle)}/rosette.svg`,
    services,
    endpoints: services,
    x402Support: false,
    active: true,
    registrations: [] as { agentId: number; agentRegistry: string }[],
    supportedTrust: [] as string[],
  }
}

/** The owner's wallet as CAIP-10. */
const ownerOf = ({ accountId }: PassportRow) => ({
  name: 'agentWallet',
  endpoint: `eip155:${chainId}:${toChecksumAddress(accountId)}`,
})
