/** Reference entries of overview, settings and sessions. */
import {
  revokedSessionsShape,
  sessionPageShape,
  sessionShape,
  settingsBody,
  settingsShape,
} from '../../../access/accounts/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { overviewShape, verifiedShape, verifyRunBody } from '../../overview/shapes.ts'
import { done, followed, seeOther, shown } from '../browser-answers.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

const overview = [
  operation('showOverview', 'GET /api/portal/overview', 'The account at a glance', {
    about: 'Balance, spending, what will stop runs soon, and the newest runs.',
    access: 'session',
    answers: [ok('The overview.', overviewShape)],
  }),
  operation('followOverview', 'GET /api/portal/overview/live', 'Follow the overview', {
    about: 'Keeps the page of the overview up to date. At most 50 such streams of an account.',
    access: 'session',
    query: { mark: t.text('What the page shows already.', '10000000000-0') },
    answers: [followed('Balance, first steps and newest runs.')],
    refuses: ['rate_limited'],
  }),
  operation('verifyOwnRun', 'POST /api/portal/overview/verify', 'Verify the receipt of a run', {
    about:
      'The last of the first steps. The page of the receipt sends the digest that the browser ' +
      'checked; the server checks too, and notes who did. Doing it again changes nothing.',
    access: 'session',
    body: { schema: verifyRunBody, form: verifyRunBody },
    examples: [
      { name: 'A run', body: { run_id: t.sampleIds.run }, status: 200 },
      { name: 'From a form', form: { run_id: t.sampleIds.run }, status: 200 },
    ],
    answers: [
      ok('It verifies.', verifiedShape),
      { ...seeOther, about: 'To htmx and to a browser that wants a page: the receipt.' },
    ],
    refuses: ['not_found', 'unprocessable', 'log_diverged'],
  }),
]

const settings = [
  operation('showSettings', 'GET /api/portal/settings', 'Settings', {
    about: 'How long texts of runs are kept.',
    access: 'session',
    answers: [ok('The settings.', settingsShape)],
  }),
  operation('changeSettings', 'PATCH /api/portal/settings', 'Change settings', {
    about: 'A shorter retention deletes at once what was kept for longer.',
    access: 'session',
    body: { schema: settingsBody, form: settingsBody },
    examples: [{ name: 'Keep texts for a day', body: { retention: '24h' }, status: 200 }],
    answers: done('The settings as they are now.', settingsShape),
  }),
  operation('changeSettingsByForm', 'POST /api/portal/settings', 'Change settings by a form', {
    about: 'The same as `PATCH`, which no plain form can send.',
    access: 'session',
    body: { schema: settingsBody, form: settingsBody },
    examples: [{ name: 'From a form', form: { retention: '24h' }, status: 200 }],
    answers: done('The settings as they are now.', settingsShape),
  }),
]

const sessions = [
  operation('listSessions', 'GET /api/portal/sessions', 'List sessions', {
    about: 'Where the account is signed in, newest first.',
    access: 'session',
    query: pageQuery(t.sampleIds.sess),
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [shown('A page of sessions.', sessionPageShape)],
  }),
  operation('revokeSession', 'POST /api/portal/sessions/:id/revoke', 'End a session', {
    about: 'At once and everywhere. One may end the session that asks.',
    access: 'session',
    path: { id: t.id('sess', 'Id of a session.') },
    examples: [{ name: 'Another browser', path: { id: t.sampleIds.sess }, status: 200 }],
    answers: done('The session that was ended.', sessionShape),
    refuses: ['not_found'],
  }),
  operation(
    'revokeOtherSessions',
    'POST /api/portal/sessions/others/revoke',
    'End all other sessions',
    {
      about: 'All but the one that asks.',
      access: 'session',
      answers: done('How many were ended.', revokedSessionsShape),
    },
  ),
]

export const accountArea = area('account', 'dashboard', 'Overview, settings, sessions', {
  about: 'The account at a glance, what it can set, and where it is signed in.',
  operations: [...overview, ...settings, ...sessions],
})
