import { Type } from '@sinclair/typebox'

/** The bodies of `/api/portal/deposits`, as the doors check and describe them. */
const closed = { additionalProperties: false } as const

/** The body of `POST /api/portal/deposits`. */
export const payBody = Type.Object(
  {
    amount: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Decimal USD. Without it the link names no amount.',
        examples: ['25.00'],
      }),
    ),
  },
  { ...closed, description: 'What is to be deposited.' },
)

/** The body of `POST /api/portal/deposits/claim`. */
export const claimBody = Type.Object(
  {
    tx_hash: Type.String({
      pattern: '^0x[0-9a-fA-F]{64}$',
      description: 'The transaction of the transfer.',
      examples: [`0x${'5c'.repeat(32)}`],
    }),
    signature: Type.String({
      pattern: '^0x([0-9a-fA-F]{2}){1,4000}$',
      description:
        'By the sending wallet, over `Counterfoil: credit the deposit <tx_hash> to <account>`.',
      examples: [`0x${'5c'.repeat(65)}`],
    }),
  },
  { ...closed, description: 'A transfer from another wallet, and the proof that it is yours.' },
)
