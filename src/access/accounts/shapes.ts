import { Type } from '@sinclair/typebox'
import { retentions } from '../../storage/texts/retention.ts'

/** The bodies of `/api/auth` and of an account's settings, as the doors check and describe them. */
const closed = { additionalProperties: false } as const
const next = Type.Optional(
  Type.String({
    description:
      'For a form: the path of the page to go on to. A path of this server, else `/dashboard`.',
    examples: ['/dashboard/keys'],
  }),
)

/** The body of `POST /api/auth/nonce`. */
export const nonceBody = Type.Object(
  {
    address: Type.Optional(
      Type.String({
        description: 'Address of the wallet. With it the answer holds the whole text to sign.',
        examples: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
      }),
    ),
    next,
  },
  { ...closed, description: 'Who is about to sign in.' },
)

/** The body of `POST /api/auth/verify`. */
export const verifyBody = Type.Object(
  {
    message: Type.String({
      description: 'The EIP-4361 text that was signed, at most 2,048 bytes.',
      examples: ['gw.example wants you to sign in with your Ethereum account:\n0xf39F…'],
    }),
    signature: Type.String({
      description: 'The signature of `personal_sign` (EIP-191) as hex.',
      examples: [`0x${'5c'.repeat(65)}`],
    }),
    next,
  },
  { ...closed, description: 'A signed text.' },
)

/** The body of `PATCH /api/portal/settings`. */
export const settingsBody = Type.Object(
  {
    retention: Type.String({
      description: 'How long the texts of runs are kept. A shorter time deletes at once.',
      enum: [...retentions],
    }),
  },
  { ...closed, description: 'A setting to change.' },
)
