/** The error body, and what `error.metadata` holds for each type of error. */
import { type RefusalType, refusals } from '../../kernel/refusal.ts'
import * as t from '../../web/http/shape.ts'

const types = Object.keys(refusals) as RefusalType[]

const requestId = t.id('req', 'Quote it to the operator.')

export const errorShape = t.answer('Error', 'What `error` of every error body holds.', {
  type: t.text('Public API: never renamed.', 'invalid_request', { enum: types }),
  code: t.text('The same as `type`.', 'invalid_request'),
  message: t.text('What to do next, in words.', 'The request is not well formed.'),
  param: t.orNull(t.text('Path of the wrong field.', 'cap.limit_nusd')),
  request_id: requestId,
  'metadata?': t.anything('What a program can use; typed in the schema of each type.', {}),
})

export const messagesErrorShape = t.answer(
  'MessagesError',
  "What `error` of every error body holds on the routes of Anthropic's API.",
  {
    type: t.oneOf('As its clients know it.', [
      'invalid_request_error',
      'authentication_error',
      'billing_error',
      'permission_error',
      'not_found_error',
      'conflict_error',
      'request_too_large',
      'rate_limit_error',
      'api_error',
      'overloaded_error',
      'timeout_error',
    ]),
    message: t.text('What to do next, in words.', 'The request is not well formed.'),
    details: t.answer(
      'MessagesErrorDetails',
      'Our own type, and the members of its `metadata`.',
      {
        type: t.text('Our own type.', 'invalid_request', { enum: types }),
        code: t.text('The same.', 'invalid_request'),
        param: t.orNull(t.text('Path of the wrong field.', 'max_tokens')),
        request_id: requestId,
      },
      { additionalProperties: true },
    ),
  },
)

export const requestIdShape = requestId

const resetsAt = 'When it resets. RFC 3339, UTC.'
const time = '2026-08-02T00:00:00.000Z'
const money = {
  required_nusd: t.nusd('What is needed.', 48_000),
  available_nusd: t.nusd('What is left.', 1200),
  top_up_url: t.text('Where to deposit.', 'https://gw.example/dashboard/deposits'),
}
const shortage = {
  blocking_key_id: t.orNull(t.id('key', 'The key that stands in the way; null: the balance.')),
  required_usd: t.text('The same in USD.', '0.000048'),
  available_usd: t.text('The same in USD.', '0.0000012'),
  held_nusd: t.nusd('Held for runs that go on.', 0),
  held_usd: t.text('The same in USD.', '0.00'),
  resets_at: t.orNull(t.text(resetsAt, time)),
  max_affordable_output_tokens: t.orNull(
    t.integer('The most tokens that could be paid for; null: not even the input.', 2),
  ),
}
const optional = <M extends Readonly<Record<string, t.TSchema>>>(members: M) =>
  Object.fromEntries(Object.entries(members).map(([name, shape]) => [`${name}?`, shape]))

const reasons = t.text('Which part, in one word.', 'database')

const brake = {
  span: t.oneOf('Of which time.', ['minute', 'hour']),
  limit_nusd: t.nusd('The most in it.', 100_000_000),
}

/** What `metadata` holds, where a type has any. */
export const metadataShapes: Partial<Record<RefusalType, t.TSchema>> = {
  invalid_request: t.object('Where the request is wrong, as far as it can be said.', {
    'line?': t.integer('Of broken JSON, from 1.', 1),
    'column?': t.integer('Of broken JSON, from 1.', 2),
    'offset?': t.integer('Of broken JSON: bytes before it.', 1),
    'reason?': t.text('Of a sign-in: the rule that its text broke.', 'domain'),
    'command?': t.text('Of the terminal: the command.', 'ask'),
    'nearest?': t.orNull(t.text('Of the terminal: what was meant.', 'models')),
    'error_code?': t.text('What clients of Anthropic look for.', 'thread_unsupported_request'),
  }),
  context_length_exceeded: t.object('What the model takes.', {
    context_tokens: t.integer('Input and output together. Tokens.', 8192),
  }),
  insufficient_balance: t.object(
    'What lacks. A run says all of it, a subscription the required members.',
    { limited_by: t.only('balance'), ...money, ...optional(shortage) },
  ),
  cap_exceeded: t.object('What lacks. Of a brake: a run that alone would pass it.', {
    limited_by: t.oneOf('Which cap.', ['key', 'ancestor', 'max_cost_per_run', 'brake']),
    ...money,
    ...optional(shortage),
    ...optional(brake),
  }),
  key_paused: t.object('Where a brake was pulled.', {
    'paused_reason?': t.oneOf('Why, but for a pause by hand.', ['brake', 'leak']),
    'blocking_key_id?': t.id('key', 'The key that has it.'),
    ...optional(brake),
  }),
  signature_invalid: t.object('What is wrong.', {
    reason: t.text('The rule that the text broke.', 'signature'),
  }),
  nonce_invalid: t.object('What is wrong.', { reason: t.text('`nonce`', 'nonce') }),
  model_not_found: t.object('Of the terminal.', {
    nearest: t.orNull(t.text('What was meant.', 'counterfoil/echo-1')),
  }),
  conflict: t.object('What it does not fit.', {
    'smallest_nusd?': t.nusd('Of a cap: the smallest it can be.', 5000),
    'spent_nusd?': t.nusd('Of a cap: what its window has spent.', 4000),
    'held_nusd?': t.nusd('Of a cap: what its window holds.', 1000),
    'run_id?': t.orNull(t.id('run', 'The run of an Idempotency-Key whose answer is not kept.')),
  }),
  payload_too_large: t.object('What is taken.', {
    limit_bytes: t.integer('The most bytes of a body.', 33_554_432),
  }),
  unprocessable: t.object('What is wrong.', {
    problems: t.list(t.anything('Where, and what.', {}), 'Of a receipt file.'),
  }),
  rate_limited: t.object('Of the terminal.', {
    remaining: t.integer('Asks that are left today.', 0),
    resets_at: t.text(resetsAt, time),
  }),
  unavailable: t.object('What cannot be had.', {
    'reason?': reasons,
    'resets_at?': t.text(resetsAt, time),
  }),
}
