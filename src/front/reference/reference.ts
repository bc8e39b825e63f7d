/** Reference entries of the reference itself. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'

const { get } = r.entriesUnder('', {
  path: { file: t.text('Id of an area, and `.json`.', 'keys.json') },
})

const headers = { ETag: t.text('Send it back as `If-None-Match`.', '"5c5c"') }
const unchanged = { status: 304, about: 'Unchanged since `If-None-Match`.', content: {} }
const answers = [
  r.ok('The document.', t.anything('An OpenAPI document.', { openapi: '3.1.0' }), headers),
  unchanged,
]

export const documentEntries = [
  get('showDocument', '/openapi.json', 'This reference for programs', {
    about: 'OpenAPI 3.1, with an ETag. Names the `base_url` of this server.',
    answers,
  }),
  get('showArea', '/openapi/:file', 'One area of this reference for programs', {
    about:
      'The same document with one area alone and all that it refers to: less than 60 kB. The ' +
      'areas are the pages of `/docs`. The 404 of any other names them.',
    answers,
  }),
  get('showLlms', '/llms.txt', 'The start of it for agents', {
    about: 'How to check the budget, run a model and verify its receipt.',
    answers: [
      {
        status: 200,
        about: 'The text.',
        headers,
        content: r.media('text/plain', 'Markdown.', '# Counterfoil at …\n'),
      },
      unchanged,
    ],
  }),
]
