/** The bodies and answers of the console. */

import { Type } from '@sinclair/typebox'
import { keyShape } from '../../access/keys/shapes.ts'
import { modelShape } from '../../models/shapes.ts'
import * as t from '../../web/http/shape.ts'
import { maxFiles } from './files.ts'
import { maxTurns } from './talk.ts'

export const consoleShape = t.answer('Console', 'What the console can run, and what pays for it.', {
  object: t.only('console'),
  models: t.list(modelShape, 'The chat models that run.'),
  key: t.usuallyNull(keyShape, 'The key that pays; null before its first use.'),
  cap: t.object('What it may spend.', {
    limit_nusd: t.nusd('The most in one window.', 1_000_000_000),
    window: t.oneOf('Starts at 00:00 UTC.', ['day', 'lifetime', 'week', 'month']),
    spent_nusd: t.nusd('Spent in the present window.', 0),
    held_nusd: t.nusd('Reserved for runs in flight.', 0),
    remaining_nusd: t.nusd('What is left.', 1_000_000_000),
    resets_at: t.usuallyNull(t.time('When the next window starts.')),
  }),
})

export const consoleResultShape = t.answer('ConsoleResult', 'What a command says.', {
  object: t.only('terminal.result'),
  command: t.text('Its name.', 'runs'),
  lines: t.list(t.text('', 'No runs yet.'), 'For people.'),
  data: t.anything('For programs: what `/v1` answers to the same.', {}),
})

const model = t.text('A chat model of `GET /api/portal/console`.', 'counterfoil/echo-1')
const input = t.text('The message.', 'Hello.')
const system = t.text('Instructions that come before the conversation.', 'Be brief.')

/** A file of a message. */
export const fileBody = t.closed('', {
  name: t.text('Its name.', 'chart.png'),
  data: t.text('A `data:` URL in base64.', 'data:image/png;base64,iVBORw0KGgo='),
})

const files = t.list(fileBody, 'Images and PDFs, where the model takes them.', {
  maxItems: maxFiles,
})

/** The talk so far, as the page hands it back. */
export const turnsBody = t.list(
  t.closed('', {
    input: t.text('A message.', 'Hello.'),
    output: t.text('Its answer.', 'Hello.'),
    'receipt_id?': t.text('The receipt of that run.', t.sampleIds.rcpt),
    'files?': files,
    'model?': t.text('The model that answered.', 'counterfoil/echo-1'),
    'reply?': t.map(
      Type.Unknown(),
      'What else it said: `reasoning`, `reasoning_content`, `reasoning_details`, `tool_calls`.',
      {},
    ),
  }),
  'Messages before it and their answers, oldest first.',
  { maxItems: maxTurns },
)

/** The body of `POST /api/portal/console/run`. */
export const askBody = t.body('ConsoleAsk', 'A message to a model.', {
  model,
  input,
  'max_output_tokens?': t.integer("The most tokens; default: the model's limit.", 64, {
    minimum: 1,
  }),
  'params?': t.map(Type.Unknown(), "OpenAI's options.", { temperature: 0 }),
  'system?': system,
  'files?': files,
  'turns?': turnsBody,
})

/** The same as the page's form sends it: all of it text, and what is empty is left out. */
export const askForm = t.answer(
  'ConsoleForm',
  'A message as a form; with files as multipart/form-data, each a part `files`.',
  {
    model,
    input: t.text('The message, or a command such as `/help`.', 'Hello.'),
    'max_output_tokens?': t.text('A whole number; default: 1024.', '64'),
    'temperature?': t.text('A number.', '0.7'),
    'system?': system,
    'turns?': t.text('The talk so far, as JSON.', '[]'),
    'once?': t.text('Names the form: sent again it asks once.', t.sampleIds.req),
  },
)

/** The body of `POST /api/portal/console/cap`. */
export const capBody = t.body('ConsoleCap', 'What the console may spend.', {
  cap: t.text('Decimal USD a day.', '5.00'),
})
