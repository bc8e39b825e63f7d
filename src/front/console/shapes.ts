import { Type } from '@sinclair/typebox'
import { maxTurns } from './talk.ts'

/** The bodies of `/api/portal/console`, as the doors check and describe them. */
const closed = { additionalProperties: false } as const
const model = Type.String({
  description: 'A chat model of `GET /api/portal/console`.',
  examples: ['counterfoil/echo-1'],
})
const input = Type.String({
  description: 'The message.',
  examples: ['Every run leaves a receipt.'],
})
const system = Type.Optional(
  Type.String({ description: 'What the model is told before all else.', examples: ['Be brief.'] }),
)

/** The talk so far, as the page hands it back. */
export const turnsBody = Type.Array(
  Type.Object(
    {
      input: Type.String({ description: 'A message.', examples: ['Hello.'] }),
      output: Type.String({ description: 'Its answer.', examples: ['Hello.'] }),
      receipt_id: Type.Optional(
        Type.String({
          description: 'The receipt of that run.',
          examples: ['rcpt_01k1j8dq00b4d6f8h1k3m5p7r9'],
        }),
      ),
    },
    closed,
  ),
  { maxItems: maxTurns, description: 'Messages before it and their answers, oldest first.' },
)

/** The body of `POST /api/portal/console/run`. */
export const askBody = Type.Object(
  {
    model,
    input,
    max_output_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "The most tokens; default: the model's limit.",
        examples: [64],
      }),
    ),
    params: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "OpenAI's options.",
        examples: [{ temperature: 0 }],
      }),
    ),
    system,
    turns: Type.Optional(turnsBody),
  },
  { ...closed, description: 'A message to a model.' },
)

/** The same as the page's form sends it: all of it text, and what is empty is left out. */
export const askForm = Type.Object(
  {
    model,
    input: Type.String({
      description: 'The message; behind a slash a command, as `/help`.',
      examples: ['Every run leaves a receipt.'],
    }),
    max_output_tokens: Type.Optional(
      Type.String({ description: 'A whole number; default: 1024.', examples: ['64'] }),
    ),
    temperature: Type.Optional(Type.String({ description: 'A number.', examples: ['0.7'] })),
    system,
    turns: Type.Optional(
      Type.String({ description: 'The talk so far, as JSON.', examples: ['[]'] }),
    ),
  },
  { description: 'A message to a model, as a form.' },
)

/** The body of `POST /api/portal/console/cap`. */
export const capBody = Type.Object(
  { cap: Type.String({ description: 'Decimal USD a day.', examples: ['5.00'] }) },
  { ...closed, description: 'What the console may spend.' },
)
