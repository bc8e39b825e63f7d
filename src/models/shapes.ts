/** What `/v1/models` answers. */
import * as t from '../web/http/shape.ts'

export const modelShape = t.answer('Model', "OpenAI's object and ours.", {
  id: t.text('`owner/name`.', 'counterfoil/echo-1'),
  object: t.only('model'),
  created: t.integer('Always 0: when a model was made is not known here.', 0),
  owned_by: t.text('Whose it is.', 'counterfoil'),
  name: t.text('For people.', 'Echo 1'),
  kind: t.oneOf('What it does.', ['chat', 'embedding']),
  status: t.oneOf('Whether it runs.', ['live', 'disabled', 'deprecated']),
  context_tokens: t.count('What it reads at most.', 131_072),
  max_output_tokens: t.count('What it writes at most; 0 for an embedding.', 4096),
  prices: t.object('What a run costs.', {
    input_pusd: t.pusd('Read.', 150_000),
    output_pusd: t.pusd('Written.', 600_000),
    request_nusd: t.nusd('Of each run.', 0),
  }),
  overhead_tokens: t.object('Added to the bound of a hold.', {
    per_message: t.count('For each message.', 0),
    fixed: t.count('Once.', 0),
  }),
  features: t.list(t.text('', 'streaming'), 'What it can.'),
  verifiable: t.oneOf('Whether a run can be repeated and compared.', ['none', 're-executable']),
  terminal: t.flag('Whether the public terminal may use it.', true),
})

export const modelsShape = t.answer('Models', 'All models.', {
  object: t.only('list'),
  data: t.list(modelShape, 'All of them.'),
  has_more: t.flag('Always false.', false),
  first_id: t.orNull(t.text('The first model.', 'counterfoil/echo-1')),
  last_id: t.orNull(t.text('The last model.', 'counterfoil/embed-1')),
  price_list: t.object('The version of all prices; receipts name it as `id@version`.', {
    id: t.text('Its name.', 'default'),
    version: t.count('Its number.', 1),
    digest: t.text('SHA-256 of the prices, as hex.', '5c'.repeat(32)),
  }),
})

export type ModelAnswer = t.Static<typeof modelShape>
export type ModelsAnswer = t.Static<typeof modelsShape>
