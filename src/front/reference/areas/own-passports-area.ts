/** Reference entries of the passports of an account. */
import {
  bindBody,
  createBody,
  createForm,
  editBody,
  editForm,
  ownPassportDetailShape,
  ownPassportPageShape,
} from '../../../proof/passports/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { done, seeOther, shown } from '../browser-answers.ts'
import { area, type Entry, media, operation, pageQuery } from '../entry.ts'

const path = { handle: t.text('Handle of a passport of the account.', 'scout') }
const one = { name: 'A passport', path: { handle: 'scout' }, status: 200 }
const asItIs = done('The passport as it is now.', ownPassportDetailShape)
const profile = { display_name: 'Scout', kind: 'agent', bio: 'Finds things.' }

const lists = [
  operation('listOwnPassports', 'GET /api/portal/passports', 'List passports of the account', {
    about: 'Newest first, drafts and retired ones too.',
    access: 'session',
    query: pageQuery(t.sampleIds.psp),
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: done('A page of passports.', ownPassportPageShape),
  }),
  operation('createPassport', 'POST /api/portal/passports', 'Make a passport', {
    about: 'A draft: others see it once it is published. A handle is given once and never again.',
    access: 'session',
    body: { schema: createBody, form: createForm },
    isIdempotent: true,
    examples: [
      { name: 'An agent', body: { handle: 'new-scout', ...profile }, status: 201 },
      { name: 'From a form', form: { handle: 'form-scout', ...profile }, status: 201 },
    ],
    answers: [
      { ...shown('The passport.', ownPassportDetailShape), status: 201 },
      {
        status: 200,
        about: 'To htmx: the list.',
        content: media('text/html', 'HTML.', ''),
      },
      seeOther,
    ],
    refuses: ['conflict'],
  }),
  operation('showOwnPassport', 'GET /api/portal/passports/:handle', 'One passport of the account', {
    about: 'A passport of others is the same 404 as none.',
    access: 'session',
    path,
    answers: done('The passport.', ownPassportDetailShape),
    refuses: ['not_found'],
  }),
]

const edit = {
  about: 'Its profile. The handle stays. A retired one is a 410.',
  access: 'session',
  path,
  body: { schema: editBody, form: editForm },
  answers: asItIs,
  refuses: ['not_found', 'gone'],
} as const

type Act = Pick<Entry, 'about' | 'body' | 'refuses'> & Partial<Pick<Entry, 'examples'>>

const act = (id: string, verb: string, title: string, { refuses = [], ...rest }: Act) =>
  operation(id, `POST /api/portal/passports/:handle/${verb}`, title, {
    access: 'session',
    path,
    answers: asItIs,
    refuses: ['not_found', 'gone', ...refuses],
    ...rest,
  })

const binding = {
  body: { schema: bindBody, form: bindBody },
  examples: [
    { ...one, name: 'A key', body: { key_id: t.sampleIds.key } },
    { ...one, name: 'From a form', form: { key_id: t.sampleIds.key } },
  ],
}

const changes = [
  operation('changePassport', 'PATCH /api/portal/passports/:handle', 'Change a passport', {
    ...edit,
    examples: [{ ...one, name: 'Another bio', body: { bio: 'Finds more things.' } }],
  }),
  operation(
    'changePassportByForm',
    'POST /api/portal/passports/:handle',
    'Change a passport by a form',
    {
      ...edit,
      examples: [{ ...one, name: 'From a form', form: { bio: 'Finds more things.' } }],
    },
  ),
  act('publishPassport', 'publish', 'Publish a passport', { about: 'From now on others see it.' }),
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
]

export const ownPassportsArea = area('own-passports', 'dashboard', 'Passports of an account', {
  about: 'Public identities of the signed-in account: made, published and retired here.',
  operations: [...lists, ...changes],
})
