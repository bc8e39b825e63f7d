/** The body of `POST /v1/runs`. A start loads this; the answers load with the reference. */
import { Type } from '@sinclair/typebox'
import * as t from '../../web/http/shape.ts'

/** Asks for as much as can be afforded. */
export const fit = t.flag(
  'Lowers the most tokens to what the key, its ancestors and the balance afford, instead of a ' +
    "402. The header X-Counterfoil-Fit wins over it; absent, the key's limits.fit.",
  false,
)

export const runBody = t.body('RunRequest', 'What to run: `input` or `messages`, one of them.', {
  model: t.text('A model of `GET /v1/models`.', 'counterfoil/echo-1'),
  'input?': t.either(
    'The text; a list of texts for an embedding.',
    [Type.String(), Type.Array(Type.String(), { minItems: 1 })],
    { examples: ['Every run leaves a receipt.'] },
  ),
  'messages?': t.list(t.anything('A message.', { role: 'user', content: 'Hello.' }), 'Of a chat.', {
    minItems: 1,
    // The shape of a message loads with the reference alone.
    ...t.told({ items: { $ref: '#/components/schemas/ChatMessage' } }),
  }),
  'max_output_tokens?': t.integer("The most tokens; default: the model's limit.", 64, {
    minimum: 1,
  }),
  'fit?': fit,
  'params?': t.map(t.anything('', 0), "OpenAI's options.", { temperature: 0 }),
  'stream?': t.flag('Whether the answer comes in pieces.', false),
  'background?': t.flag('Whether to answer at once and go on.', false),
  'tags?': t.map(
    t.text('', 'demo', { maxLength: 256 }),
    'At most 8.',
    { task: 'demo' },
    { maxProperties: 8 },
  ),
  'metadata?': t.map(
    t.anything('', 0),
    'At most 16 members, 4,096 bytes.',
    {},
    { maxProperties: 16 },
  ),
})

export type RunBody = t.Static<typeof runBody>
