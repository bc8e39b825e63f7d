/** Reference entries of the overview. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { overviewShape, verifiedShape, verifyRunBody } from './shapes.ts'

const { get, post } = r.entriesUnder('/api/portal/overview')

export const overviewEntries = [
  get('showOverview', '', 'The account at a glance', {
    about: 'Balance, spending, what will stop runs soon, and the newest runs.',
    answers: r.ok('The overview.', overviewShape),
  }),
  get('followOverview', '/live', 'Follow the overview', {
    about: 'Keeps the page of the overview up to date. At most 50 such streams of an account.',
    query: { mark: t.text('What the page shows already.', '10000000000-0') },
    answers: r.followed('Balance, first steps and newest runs.'),
    refuses: ['rate_limited'],
  }),
  post('verifyOwnRun', '/verify', 'Verify the receipt of a run', {
    about:
      'The last of the first steps. The page of the receipt sends the digest that the browser ' +
      'checked; the server checks too, and notes who did. Doing it again changes nothing.',
    body: verifyRunBody,
    examples: r.bothWays('A run', { run_id: t.sampleIds.run }),
    answers: [
      r.ok('It verifies.', verifiedShape),
      r.goesTo('To htmx and to a browser that wants a page: the receipt.'),
    ],
    refuses: ['not_found', 'unprocessable', 'log_diverged'],
  }),
]
