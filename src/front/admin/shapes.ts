import { Type } from '@sinclair/typebox'

/** The bodies of `/api/portal/admin`, as the doors check and describe them. */
const closed = { additionalProperties: false } as const
const reason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '\\S',
  description: 'Why, for the audit.',
  examples: ['goodwill'],
})

/** The body of suspending and resuming an account. */
export const reasonBody = Type.Object({ reason }, { ...closed, description: 'Why it is done.' })

/** The body of `POST /api/portal/admin/accounts/:id/grant`. */
export const grantBody = Type.Object(
  {
    amount: Type.String({ maxLength: 40, description: 'Decimal USD.', examples: ['5.00'] }),
    reason,
    once: Type.String({
      maxLength: 40,
      description:
        'The `once` of the account, at most a day old: however often it is sent, it grants once.',
      examples: ['1785585600000.0123456789abcdef'],
    }),
  },
  { ...closed, description: 'Credit to give to an account.' },
)

/** The body of `POST /api/portal/admin/deposits/:id/assign`. */
export const assignBody = Type.Object(
  {
    account: Type.String({
      maxLength: 60,
      description: 'Address of the account that is to have it.',
      examples: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
    }),
    reason,
  },
  { ...closed, description: 'Whose deposit it is.' },
)
