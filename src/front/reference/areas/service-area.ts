/** Reference entries of models and the service. */
import { leakBody, leakShape } from '../../../access/keys/api/leak-body.ts'
import { modelShape, modelsShape } from '../../../models/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { aliveShape, statusShape } from '../../status/shapes.ts'
import { area, json, media, ok, operation } from '../entry.ts'

const etag = t.text('Send it back as `If-None-Match`.', '"5c5c"')
const unchanged = { status: 304, about: 'Unchanged since `If-None-Match`.', content: {} }

export const serviceArea = area('service', 'programs', 'Models and service', {
  about:
    'What runs here, what it costs, and how the server is. `/metrics` (Prometheus) is not ' +
    'here: it has a listener of its own where the operator configures `metrics.listen`.',
  operations: [
    operation('listModels', 'GET /v1/models', 'List models', {
      about: 'All models with their prices.',
      access: 'none',
      answers: [ok('The models.', modelsShape)],
    }),
    operation('showModel', 'GET /v1/models/:id', 'One model', {
      about: '`counterfoil%2Fecho-1` and `counterfoil/echo-1` both work.',
      access: 'any',
      path: { id: t.text('Id of a model.', 'counterfoil/echo-1') },
      examples: [{ name: 'A model', path: { id: 'counterfoil/echo-1' }, status: 200 }],
      answers: [ok('The model.', modelShape)],
      refuses: ['model_not_found'],
    }),
    operation('showStatus', 'GET /v1/status', 'How the server is', {
      about: 'Database, ledger, log, chain, deposits.',
      access: 'none',
      answers: [ok('The status.', statusShape)],
    }),
    operation('reportLeak', 'POST /leaks', 'Report a leaked secret', {
      about:
        'Pauses the key of a secret that works, at once, and tells its owner. The answer is the ' +
        'same for any text, after the same time.',
      access: 'none',
      body: { schema: leakBody },
      examples: [{ name: 'A secret', body: { secret: 'sk-service-…' }, status: 202 }],
      answers: [{ status: 202, about: 'It was received.', content: json(leakShape) }],
      refuses: ['rate_limited'],
    }),
    operation('livez', 'GET /livez', 'Is it alive?', {
      about: 'For supervisors: the process answers.',
      access: 'none',
      answers: [ok('It does.', aliveShape)],
    }),
    operation('readyz', 'GET /readyz', 'Is it ready?', {
      about: 'For supervisors: it takes traffic.',
      access: 'none',
      answers: [ok('It does.', aliveShape)],
      refuses: ['unavailable'],
    }),
    operation('showDocument', 'GET /openapi.json', 'This reference for programs', {
      about: 'OpenAPI 3.1, with an ETag. Names the `base_url` of this server.',
      access: 'none',
      answers: [
        ok('The document.', t.anything('An OpenAPI document.', { openapi: '3.1.0' }), {
          ETag: etag,
        }),
        unchanged,
      ],
    }),
    operation('showArea', 'GET /openapi/:file', 'One area of this reference for programs', {
      about:
        'The same document with one area alone and all that it refers to: less than 60 kB. The ' +
        'areas are the pages of `/docs`. The 404 of any other names them.',
      access: 'none',
      path: { file: t.text('Id of an area, and `.json`.', 'keys.json') },
      answers: [
        ok('The document.', t.anything('An OpenAPI document.', { openapi: '3.1.0' }), {
          ETag: etag,
        }),
        unchanged,
      ],
      refuses: ['not_found'],
    }),
    operation('showLlms', 'GET /llms.txt', 'The start of it for agents', {
      about: 'How to check the budget, run a model and verify its receipt.',
      access: 'none',
      answers: [
        {
          status: 200,
          about: 'The text.',
          headers: { ETag: etag },
          content: media('text/plain', 'Markdown.', '# Counterfoil at …\n'),
        },
        unchanged,
      ],
    }),
  ],
})
