/** Reference entries of the statement. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { statementQuery } from './portal/statement-query.ts'
import { movementPageShape, statementDayPageShape } from './shapes.ts'

const { get } = r.entriesUnder('/api/portal/statement')

export const statementEntries = [
  get('showStatement', '', 'The statement', {
    about: 'Everything that moved the balance, newest first; all amounts add up to it.',
    query: statementQuery.parameters,
    examples: ['Movements', { name: 'Days', query: { by: 'day' } }],
    answers: r.shown(
      'Movements, or days.',
      t.either('', [movementPageShape, statementDayPageShape]),
    ),
  }),
  get('exportStatement', '/export', 'The statement as a file', {
    about: 'Oldest first, up to now. At most 4 exports of an account at once.',
    answers: {
      status: 200,
      about: 'The file.',
      headers: { 'X-As-Of': t.integer('Movements in it.', 2, { minimum: 0 }) },
      content: r.media(
        'text/csv',
        'RFC 4180, UTF-8.',
        'time,id,kind,ref,amount_usd,amount_nusd,balance_usd,balance_nusd\r\n',
      ),
    },
    refuses: ['concurrency_limited'],
  }),
]
