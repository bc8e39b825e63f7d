/** Reference entries of models. */
import * as t from '../web/http/shape.ts'
import * as r from '../web/reference/entry.ts'
import { modelShape, modelsShape } from './shapes.ts'

const { get } = r.entriesUnder('/v1/models', {
  path: { id: t.text('Id of a model.', 'counterfoil/echo-1') },
  missing: 'model_not_found',
})

export const modelEntries = [
  get('listModels', '', 'List models', {
    about: 'All models with their prices.',
    answers: r.ok('The models.', modelsShape),
  }),
  get('showModel', '/:id', 'One model', {
    about: '`counterfoil%2Fecho-1` and `counterfoil/echo-1` both work.',
    access: 'any',
    examples: ['A model'],
    answers: r.ok('The model.', modelShape),
  }),
]
