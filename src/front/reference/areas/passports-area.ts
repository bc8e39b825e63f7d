/** Reference entries of passports. */
import {
  agentRegistrationShape,
  passportDetailShape,
  passportPageShape,
} from '../../../proof/passports/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

const kinds = ['agent', 'person', 'service']
const handle = t.text('Its name, given once and never again.', 'scout', {
  pattern: '^[a-z][a-z0-9-]{2,29}$',
})

const named = { handle }

export const passportsArea = area('passports', 'programs', 'Passports', {
  about:
    'A public identity, and what the log says of it: counted from receipts, signed, and ' +
    'provable. Made and changed in the dashboard.',
  operations: [
    operation('listPassports', 'GET /v1/passports', 'List passports', {
      about:
        'The public ones, newest or busiest first. No walk shows one twice; by runs it passes ' +
        'over one that overtakes it meanwhile.',
      access: 'none',
      query: {
        ...pageQuery(t.sampleIds.psp),
        kind: t.oneOf('Only those.', kinds),
        sort: t.oneOf('Default: newest.', ['newest', 'runs']),
      },
      examples: [
        { name: 'The busiest agents', query: { kind: 'agent', sort: 'runs' }, status: 200 },
      ],
      answers: [ok('A page of passports.', passportPageShape)],
    }),
    operation('showPassport', 'GET /v1/passports/:handle', 'One passport', {
      about: 'With `format=erc8004` as an agent registration file. A retired one is a 410.',
      access: 'none',
      path: named,
      query: {
        receipts: t.oneOf('Whether to name public receipts.', ['0', '1']),
        format: t.oneOf('Default: json.', ['json', 'erc8004']),
      },
      examples: [
        {
          name: 'With its receipts',
          path: { handle: 'scout' },
          query: { receipts: '1' },
          status: 200,
        },
        {
          name: 'For a registry of agents',
          path: { handle: 'scout' },
          query: { format: 'erc8004' },
          status: 200,
        },
      ],
      answers: [
        ok(
          'The passport, or its registration file.',
          t.either('', [passportDetailShape, agentRegistrationShape]),
        ),
      ],
      refuses: ['not_found', 'gone'],
    }),
  ],
})
