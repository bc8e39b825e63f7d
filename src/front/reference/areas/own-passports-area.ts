import {
  bindBody,
  createBody,
  createForm,
  editBody,
  editForm,
} from '../../../proof/passports/shapes.ts'
import { done, seeOther, shown } from '../browser-answers.ts'
import type { Area, Operation } from '../operation.ts'
import {
  flag,
  id,
  list,
  object,
  oneOf,
  orNull,
  page,
  ref,
  type Schema,
  type Schemas,
  sampleIds,
  text,
  time,
  usuallyNull,
} from '../schema.ts'
import { shapeOf } from '../shape.ts'
import { pageQuery } from './keys-area.ts'
import { passportMembers } from './passports-area.ts'

const path = { handle: text('Handle of a passport of the account.', 'scout') }
const one = { name: 'A passport', path: { handle: 'scout' }, status: 200 }
const asItIs = done('The passport as it is now.', ref('OwnPassportDetail'))
const profile = { display_name: 'Scout', kind: 'agent', bio: 'Finds things.' }

const ownMembers: Record<string, Schema> = {
  ...passportMembers,
  status: oneOf('Whether others see it.', ['draft', 'public', 'hidden', 'retired']),
  show_owner: flag('Whether its page names the owner.', false),
  updated_at: time('When it was last changed.'),
  published_at: orNull(time('When it was first published.')),
  retired_at: usuallyNull(time('When it was retired.')),
  key_ids: list(id('key', 'A key.'), 'Keys that are bound to it.'),
}

const schemas: Schemas = {
  OwnPassport: object('A passport as its owner sees it.', ownMembers),
  OwnPassportDetail: object('The same with its newest signed record.', {
    ...ownMembers,
    statement: usuallyNull(ref('PassportStatement')),
  }),
  OwnPassportPage: page('Passports of an account.', 'OwnPassport'),
  PassportWish: shapeOf(createBody),
  PassportForm: shapeOf(createForm),
  PassportChange: shapeOf(editBody),
  PassportChangeForm: shapeOf(editForm),
  PassportKey: shapeOf(bindBody),
}

const lists: readonly Operation[] = [
  {
    id: 'listOwnPassports',
    route: 'GET /api/portal/passports',
    title: 'List passports of the account',
    about: 'Newest first, drafts and retired ones too.',
    access: 'session',
    query: { ...pageQuery, after: text('`last_id` of the page before.', sampleIds.psp) },
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: done('A page of passports.', ref('OwnPassportPage')),
  },
  {
    id: 'createPassport',
    route: 'POST /api/portal/passports',
    title: 'Make a passport',
    about: 'A draft: others see it once it is published. A handle is given once and never again.',
    access: 'session',
    body: { schema: ref('PassportWish'), form: ref('PassportForm') },
    isIdempotent: true,
    examples: [
      { name: 'An agent', body: { handle: 'new-scout', ...profile }, status: 201 },
      { name: 'From a form', form: { handle: 'form-scout', ...profile }, status: 201 },
    ],
    answers: [
      { ...shown('The passport.', ref('OwnPassportDetail')), status: 201 },
      {
        status: 200,
        about: 'To htmx: the list.',
        content: { 'text/html': { schema: text('HTML.', ''), sample: '' } },
      },
      seeOther,
    ],
    refuses: ['conflict'],
  },
  {
    id: 'showOwnPassport',
    route: 'GET /api/portal/passports/:handle',
    title: 'One passport of the account',
    about: 'A passport of others is the same 404 as none.',
    access: 'session',
    path,
    examples: [one],
    answers: done('The passport.', ref('OwnPassportDetail')),
    refuses: ['not_found'],
  },
]

const edit = {
  about: 'Its profile. The handle stays. A retired one is a 410.',
  access: 'session',
  path,
  body: { schema: ref('PassportChange'), form: ref('PassportChangeForm') },
  answers: asItIs,
  refuses: ['not_found', 'gone'],
} as const

const act = (
  id: string,
  verb: string,
  title: string,
  { about, refuses = [] }: { about: string; refuses?: Operation['refuses'] },
): Operation => ({
  id,
  route: `POST /api/portal/passports/:handle/${verb}`,
  title,
  about,
  access: 'session',
  path,
  examples: [one],
  answers: asItIs,
  refuses: ['not_found', 'gone', ...refuses],
})

const binding = {
  body: { schema: ref('PassportKey'), form: ref('PassportKey') },
  examples: [
    { ...one, name: 'A key', body: { key_id: sampleIds.key } },
    { ...one, name: 'From a form', form: { key_id: sampleIds.key } },
  ],
}

const changes: readonly Operation[] = [
  {
    ...edit,
    id: 'changePassport',
    route: 'PATCH /api/portal/passports/:handle',
    title: 'Change a passport',
    examples: [{ ...one, name: 'Another bio', body: { bio: 'Finds more things.' } }],
  },
  {
    ...edit,
    id: 'changePassportByForm',
    route: 'POST /api/portal/passports/:handle',
    title: 'Change a passport by a form',
    examples: [{ ...one, name: 'From a form', form: { bio: 'Finds more things.' } }],
  },
  act('publishPassport', 'publish', 'Publish a passport', { about: 'From now on others see it.' }),
  act('hidePassport', 'hide', 'Hide a passport', { about: 'Until it is published again.' }),
  {
    ...act('bindPassportKey', 'bind', 'Bind a key', {
      about: 'Receipts of its runs count for the passport. Null, or no member, unbinds all keys.',
      refuses: ['conflict'],
    }),
    ...binding,
  },
  {
    ...act('unbindPassportKey', 'unbind', 'Unbind a key', {
      about: 'Receipts of its later runs do not count for the passport.',
    }),
    ...binding,
  },
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

export const ownPassportsArea: Area = {
  id: 'own-passports',
  group: 'dashboard',
  title: 'Passports of an account',
  about: 'Public identities of the signed-in account: made, published and retired here.',
  operations: [...lists, ...changes],
  schemas,
}
