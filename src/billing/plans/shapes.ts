import { Type } from '@sinclair/typebox'

/** The bodies of `/api/portal/plans`, as the doors check and describe them. */
const closed = { additionalProperties: false } as const

/** The body of `POST /api/portal/plans/:id/subscribe`. */
export const subscribeBody = Type.Object(
  {
    quoted_at: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{8,12}Z$',
        description: 'That of a preview, at most ten minutes old: exactly what it showed is paid.',
        examples: ['2026-08-01T12:00:00.000Z'],
      }),
    ),
  },
  { ...closed, description: 'At which price.' },
)

/** The body of a route that takes none of its own. */
export const emptyBody = Type.Object({}, { ...closed, description: 'No members.' })
