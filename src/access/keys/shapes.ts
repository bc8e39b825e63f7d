import { type Static, Type } from '@sinclair/typebox'
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import { parseTime } from '../../kernel/time-text.ts'
import { capWindows } from '../../ledger/window.ts'
import type { KeyChange } from './change.ts'
import type { KeyWish } from './issue.ts'
import { type Scope, scopes } from './key.ts'

/** The bodies of `/v1/keys`: their shape only. What may be asked for, the verbs decide. */
const closed = { additionalProperties: false } as const
const text = Type.Optional(Type.String())
const texts = Type.Optional(Type.Array(Type.String()))
const limit = Type.Optional(Type.Union([Type.Integer(), Type.Null()]))
const limits = { rpm: limit, concurrency: limit, max_cost_per_run_nusd: limit }
const rights = {
  expires_at: text,
  scopes: texts,
  models: texts,
  ip_cidrs: texts,
  limits: Type.Optional(Type.Object(limits, closed)),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
}

/** The body of `POST /v1/keys`. */
export const mintBody = Type.Object(
  {
    name: Type.String(),
    cap: Type.Object(
      {
        limit_nusd: Type.Integer(),
        window: Type.Optional(Type.Union(capWindows.map((window) => Type.Literal(window)))),
      },
      closed,
    ),
    ...rights,
    parent_id: text,
  },
  closed,
)
type MintBody = Static<typeof mintBody>

/** The body of `PATCH /v1/keys/:id`. The window of a cap stays as it is. */
export const changeBody = Type.Object(
  {
    name: text,
    cap: Type.Optional(Type.Object({ limit_nusd: Type.Integer() }, closed)),
    ...rights,
  },
  closed,
)
type ChangeBody = Static<typeof changeBody>

/** The body of `POST /v1/keys/:id/rotate`. */
export const rotateBody = Type.Object({ overlap_seconds: Type.Optional(Type.Integer()) }, closed)

/** @throws Refusal `invalid_request` with `param`. */
export const toWish = (body: MintBody): Omit<KeyWish, 'account' | 'actor'> => ({
  name: body.name,
  capLimit: BigInt(body.cap.limit_nusd),
  capWindow: body.cap.window ?? 'lifetime',
  parentId: body.parent_id,
  ...toRights(body),
})

/** @throws Refusal `invalid_request` with `param`. */
export const toChange = (body: ChangeBody): KeyChange => ({
  ...(body.name === undefined ? {} : { name: body.name }),
  ...(body.cap === undefined ? {} : { capLimit: BigInt(body.cap.limit_nusd) }),
  ...toRights(body),
})

/** What a body says of a key's rights; what it leaves out is left out. */
function toRights(body: Omit<ChangeBody, 'name' | 'cap'>) {
  const { rpm, concurrency, max_cost_per_run_nusd: most } = body.limits ?? {}
  return {
    ...(body.expires_at === undefined ? {} : { expiresAt: readTime(body.expires_at) }),
    ...(body.scopes === undefined ? {} : { scopes: body.scopes.map(readScope) }),
    ...(body.models === undefined ? {} : { models: body.models }),
    ...(body.ip_cidrs === undefined ? {} : { ipCidrs: body.ip_cidrs }),
    ...(body.tags === undefined ? {} : { tags: body.tags }),
    ...(rpm === undefined ? {} : { rpm }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(most === undefined ? {} : { maxCostPerRun: most === null ? null : BigInt(most) }),
  }
}

/** @throws Refusal `invalid_request` unless it is an RFC 3339 time. */
export function readTime(written: string): Millis {
  return (
    parseTime(written) ??
    refuse('invalid_request', {
      param: 'expires_at',
      message: 'Write the expiry as RFC 3339: 2027-01-31T00:00:00Z.',
    })
  )
}

function readScope(named: string): Scope {
  const found = scopes.find((scope) => scope === named)
  if (found) return found
  refuse('invalid_request', { param: 'scopes', message: `The scopes are: ${scopes.join(', ')}.` })
}
