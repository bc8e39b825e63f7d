/** Declares the query of a statement: its movements, or its days. */
import * as q from '../../../web/http/query-fields.ts'

export const statementQuery = q.declareQuery({
  ...q.pageFields('1785585600000-1'),
  by: q.choice('Default: movement.', ['movement', 'day'], {
    label: 'Lines',
    first: 'By day',
    words: { movement: 'Every movement' },
  }),
})
