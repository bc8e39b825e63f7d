/** Reference entry of the log and its anchors. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { anchorsShape } from './shapes.ts'

export const anchorsEntry = r
  .entriesUnder('/v1')
  .get('listAnchors', '/anchors', 'The log and its anchors', {
    about:
      'Keep a checkpoint, ask later with `from` its size: `consistency` leads from it to the ' +
      'latest one, or to `to`. Nothing between was dropped, changed or reordered.',
    query: {
      ...r.pageQuery(t.sampleIds.anc),
      from: t.integer('A size of the log.', 1, { minimum: 1 }),
      to: t.integer('A larger size.', 2, { minimum: 1 }),
    },
    examples: ['The head', { name: 'From one size to another', query: { from: '1', to: '2' } }],
    answers: r.ok('The log.', anchorsShape),
    refuses: ['log_damaged'],
  })
