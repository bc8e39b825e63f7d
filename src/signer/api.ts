import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { openToAnyOrigin } from '../http/methods.ts'
import { domain, structs } from '../verify/eip712.ts'

const receiptStructs = [
  'Receipt',
  'Subject',
  'Passport',
  'Run',
  'Charge',
  'Line',
  'Content',
] as const

/** `GET /v1/signer`: whose signature a receipt must carry, and over what. */
export const signerApi = ({ signer, settings }: Pick<Deps, 'signer' | 'settings'>) => {
  const types = Object.fromEntries(
    receiptStructs.map((name) => [
      name,
      structs[name].map(([type, member]) => ({ name: member, type })),
    ]),
  )
  return new Elysia({ name: 'signer-api' }).get(
    '/v1/signer',
    () => ({
      object: 'signer',
      address: signer.address,
      public_key: signer.publicKey,
      scheme: 'eip712-secp256k1',
      issuer: settings.issuer,
      domain,
      types,
      primary_type: 'Receipt',
      from_index: 0,
      previous: [],
    }),
    openToAnyOrigin,
  )
}
