import { settingsBody } from '../../../access/accounts/shapes.ts'
import { verifyRunBody } from '../../overview/shapes.ts'
import { done, followed, seeOther, shown } from '../browser-answers.ts'
import { type Area, type Operation, ok } from '../operation.ts'
import {
  address,
  flag,
  id,
  integer,
  list,
  nusd,
  object,
  oneOf,
  only,
  orNull,
  page,
  ref,
  type Schemas,
  sampleIds,
  text,
  time,
  usuallyNull,
} from '../schema.ts'
import { shapeOf } from '../shape.ts'
import { pageQuery } from './keys-area.ts'

const retentions = ['none', '24h', '30d']
const alertTypes = [
  'key_expires',
  'balance_low',
  'balance_used_up',
  'cap_near',
  'cap_used_up',
  'more_keys',
  'log_diverged',
  'unbalanced',
  'degraded',
]

const schemas: Schemas = {
  Overview: object('The account at a glance.', {
    object: only('overview'),
    balance_nusd: nusd('What there is.', 10_000_000_000),
    held_nusd: nusd('Reserved for runs in flight.', 0),
    available_nusd: nusd('What can still be spent.', 10_000_000_000),
    plan: text('Its plan.', 'free'),
    spent_nusd: nusd('Spent in the last `spend_days` days.', 4650),
    spend_days: integer('Days that the spending is of.', 30),
    per_day_nusd: orNull(nusd('Spent a day; null while too little is known.', 4650)),
    lasts_days: orNull(integer('Days that the balance lasts at that pace.', 30)),
    alerts: list(
      object('', {
        type: oneOf('What is wrong or will be soon.', alertTypes),
        key_id: usuallyNull(id('key', 'The key it is about.')),
      }),
      'The worst first.',
    ),
    recent_runs: list(ref('Run'), 'The newest runs, at most 5.'),
    onboarding: orNull(
      object('The first steps; null once a receipt was verified.', {
        done: integer('Steps done, of 5.', 2, { minimum: 0, maximum: 5 }),
      }),
    ),
  }),
  VerifyRunWish: shapeOf(verifyRunBody),
  Verified: object('', { verified: flag('Always true: anything else is an error.', true) }),
  Settings: object('What an account can set.', {
    object: only('settings'),
    account: address('The account.'),
    retention: oneOf('How long the texts of its runs are kept.', retentions),
  }),
  SettingsChange: shapeOf(settingsBody),
  Session: object('A browser that the account is signed in with.', {
    object: only('session'),
    id: id('sess', 'Id of the session.'),
    current: flag('Whether it is the one that asks.', true),
    created_at: time('When it was signed in.'),
    last_seen_at: time('Exact to a minute.'),
    expires_at: time('When it ends unless it is used.'),
    user_agent: text('What the browser calls itself.', 'Mozilla/5.0 …'),
    client_address: text('Where it was last.', '203.0.113.7'),
  }),
  SessionPage: page('Sessions.', 'Session'),
  RevokedSessions: object('', { revoked: integer('Sessions that were ended.', 1, { minimum: 0 }) }),
}

const overview: readonly Operation[] = [
  {
    id: 'showOverview',
    route: 'GET /api/portal/overview',
    title: 'The account at a glance',
    about: 'Balance, spending, what will stop runs soon, and the newest runs.',
    access: 'session',
    examples: [{ name: 'The overview', status: 200 }],
    answers: [ok('The overview.', ref('Overview'))],
  },
  {
    id: 'followOverview',
    route: 'GET /api/portal/overview/live',
    title: 'Follow the overview',
    about: 'Keeps the page of the overview up to date. At most 50 such streams of an account.',
    access: 'session',
    query: { mark: text('What the page shows already.', '10000000000-0') },
    examples: [{ name: 'From the start', status: 200 }],
    answers: [followed('Balance, first steps and newest runs.')],
    refuses: ['rate_limited'],
  },
  {
    id: 'verifyOwnRun',
    route: 'POST /api/portal/overview/verify',
    title: 'Verify the receipt of a run',
    about: 'The last of the first steps: checks the receipt as anybody would, and notes it.',
    access: 'session',
    body: { schema: ref('VerifyRunWish'), form: ref('VerifyRunWish') },
    examples: [
      { name: 'A run', body: { run_id: sampleIds.run }, status: 200 },
      { name: 'From a form', form: { run_id: sampleIds.run }, status: 200 },
    ],
    answers: [
      ok('It verifies.', ref('Verified')),
      { ...seeOther, about: 'To htmx and to a browser that wants a page: the receipt.' },
    ],
    refuses: ['not_found', 'unprocessable', 'log_diverged'],
  },
]

const settings: readonly Operation[] = [
  {
    id: 'showSettings',
    route: 'GET /api/portal/settings',
    title: 'Settings',
    about: 'How long texts of runs are kept.',
    access: 'session',
    examples: [{ name: 'The settings', status: 200 }],
    answers: [ok('The settings.', ref('Settings'))],
  },
  {
    id: 'changeSettings',
    route: 'PATCH /api/portal/settings',
    title: 'Change settings',
    about: 'A shorter retention deletes at once what was kept for longer.',
    access: 'session',
    body: { schema: ref('SettingsChange'), form: ref('SettingsChange') },
    examples: [{ name: 'Keep texts for a day', body: { retention: '24h' }, status: 200 }],
    answers: done('The settings as they are now.', ref('Settings')),
  },
  {
    id: 'changeSettingsByForm',
    route: 'POST /api/portal/settings',
    title: 'Change settings by a form',
    about: 'The same as `PATCH`, which no plain form can send.',
    access: 'session',
    body: { schema: ref('SettingsChange'), form: ref('SettingsChange') },
    examples: [{ name: 'From a form', form: { retention: '24h' }, status: 200 }],
    answers: done('The settings as they are now.', ref('Settings')),
  },
]

const sessions: readonly Operation[] = [
  {
    id: 'listSessions',
    route: 'GET /api/portal/sessions',
    title: 'List sessions',
    about: 'Where the account is signed in, newest first.',
    access: 'session',
    query: { ...pageQuery, after: text('`last_id` of the page before.', sampleIds.sess) },
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [shown('A page of sessions.', ref('SessionPage'))],
  },
  {
    id: 'revokeSession',
    route: 'POST /api/portal/sessions/:id/revoke',
    title: 'End a session',
    about: 'At once and everywhere. One may end the session that asks.',
    access: 'session',
    path: { id: id('sess', 'Id of a session.') },
    examples: [{ name: 'Another browser', path: { id: sampleIds.sess }, status: 200 }],
    answers: done('The session that was ended.', ref('Session')),
    refuses: ['not_found'],
  },
  {
    id: 'revokeOtherSessions',
    route: 'POST /api/portal/sessions/others/revoke',
    title: 'End all other sessions',
    about: 'All but the one that asks.',
    access: 'session',
    examples: [{ name: 'Everywhere else', status: 200 }],
    answers: done('How many were ended.', ref('RevokedSessions')),
  },
]

export const accountArea: Area = {
  id: 'account',
  group: 'dashboard',
  title: 'Overview, settings, sessions',
  about: 'The account at a glance, what it can set, and where it is signed in.',
  operations: [...overview, ...settings, ...sessions],
  schemas,
}
