/** Reference entries of passports: as all see them, and as their account changes them. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { passportQuery, passportsQuery } from './api/passport-query.ts'
import {
  agentRegistrationShape,
  bindBody,
  createBody,
  createForm,
  editBody,
  editForm,
  ownPassportDetailShape,
  ownPassportPageShape,
  passportDetailShape,
  passportPageShape,
} from './shapes.ts'

const { get } = r.entriesUnder('/v1/passports', {
  path: {
    handle: t.text('Its name, given once and never again.', 'scout', {
      pattern: '^[a-z][a-z0-9-]{2,29}$',
    }),
  },
})

export const passportsArea = r.area('passports', 'programs', 'Passports', {
  about:
    'A public identity, and what the log says of it: counted from receipts, signed, and ' +
    'provable. Made and changed in the dashboard.',
  operations: [
    get('listPassports', '', 'List passports', {
      about:
        'The public ones, newest or busiest first. No walk shows one twice; by runs it passes ' +
        'over one that overtakes it meanwhile.',
      query: passportsQuery.parameters,
      examples: [{ name: 'The busiest agents', query: { kind: 'agent', sort: 'runs' } }],
      answers: r.ok('A page of passports.', passportPageShape),
    }),
    get('showPassport', '/:handle', 'One passport', {
      about: 'With `format=erc8004` as an agent registration file. A retired one is a 410.',
      query: passportQuery.parameters,
      examples: [
        { name: 'With its receipts', query: { receipts: '1' } },
        { name: 'For a registry of agents', query: { format: 'erc8004' } },
      ],
      answers: r.ok(
        'The passport, or its registration file.',
        t.either('', [passportDetailShape, agentRegistrationShape]),
      ),
      refuses: ['gone'],
    }),
  ],
})

const own = r.entriesUnder('/api/portal/passports', {
  path: { handle: t.text('Handle of a passport of the account.', 'scout') },
})
const asItIs = r.done('The passport as it is now.', ownPassportDetailShape)
const profile = { display_name: 'Scout', kind: 'agent', bio: 'Finds things.' }
const edit = {
  about: 'Its profile. The handle stays. A retired one is a 410.',
  body: { schema: editBody, form: editForm },
  answers: asItIs,
  refuses: ['gone'],
} as const

type ActionEntry = Omit<Parameters<typeof own.post>[3], 'answers'>

const act = (id: string, verb: string, title: string, { refuses = [], ...rest }: ActionEntry) =>
  own.post(id, `/:handle/${verb}`, title, {
    answers: asItIs,
    refuses: ['gone', ...refuses],
    ...rest,
  })

const binding = { body: bindBody, examples: r.bothWays('A key', { key_id: t.sampleIds.key }) }

export const ownPassportsArea = r.area('own-passports', 'dashboard', 'Passports of an account', {
  about: 'Public identities of the signed-in account: made, published and retired here.',
  operations: [
    own.get('listOwnPassports', '', 'List passports of the account', {
      about: 'Newest first, drafts and retired ones too.',
      query: r.pageQuery(t.sampleIds.psp),
      answers: r.done('A page of passports.', ownPassportPageShape),
    }),
    own.post('createPassport', '', 'Make a passport', {
      about: 'A draft: others see it once it is published. A handle is given once and never again.',
      body: { schema: createBody, form: createForm },
      isIdempotent: true,
      examples: [
        { name: 'An agent', body: { handle: 'new-scout', ...profile } },
        { name: 'From a form', form: { handle: 'form-scout', ...profile } },
      ],
      answers: [
        { ...r.shown('The passport.', ownPassportDetailShape), status: 201 },
        { status: 200, about: 'To htmx: the list.', content: r.media('text/html', 'HTML.', '') },
        r.seeOther,
      ],
      refuses: ['conflict'],
    }),
    own.get('showOwnPassport', '/:handle', 'One passport of the account', {
      about: 'A passport of others is the same 404 as none.',
      answers: r.done('The passport.', ownPassportDetailShape),
    }),
    own.patch('changePassport', '/:handle', 'Change a passport', {
      ...edit,
      examples: [{ name: 'Another bio', body: { bio: 'Finds more things.' } }],
    }),
    own.post('changePassportByForm', '/:handle', 'Change a passport by a form', {
      ...edit,
      examples: [{ name: 'From a form', form: { bio: 'Finds more things.' } }],
    }),
    act('publishPassport', 'publish', 'Publish a passport', {
      about: 'From now on others see it.',
    }),
    act('hidePassport', 'hide', 'Hide a passport', { about: 'Until it is published again.' }),
    act('bindPassportKey', 'bind', 'Bind a key', {
      ...binding,
      about: 'Receipts of its runs count for the passport. Null, or no member, unbinds all keys.',
      refuses: ['conflict'],
    }),
    act('unbindPassportKey', 'unbind', 'Unbind a key', {
      ...binding,
      about: 'Receipts of its later runs do not count for the passport.',
    }),
    act('issuePassportStatement', 'statement', 'Sign its record', {
      about: 'What the log says of it, signed, and a leaf of the log.',
      refuses: ['conflict', 'log_diverged'],
    }),
    act('retirePassport', 'retire', 'Retire a passport', {
      about:
        'For good: its last record is signed, its keys are unbound, and its handle is not reused.',
      refuses: ['log_diverged'],
    }),
  ],
})
