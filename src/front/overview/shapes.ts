import { Type } from '@sinclair/typebox'

/** The body of `POST /api/portal/overview/verify`. */
export const verifyRunBody = Type.Object(
  {
    run_id: Type.String({
      description: 'A run of the account that left a receipt.',
      examples: ['run_01k1j8dq00b4d6f8h1k3m5p7r9'],
    }),
  },
  { additionalProperties: false, description: 'Whose receipt is to be verified.' },
)
