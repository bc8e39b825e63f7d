/** Reference entries of sign-in, settings and sessions. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import {
  nonceBody,
  nonceShape,
  revokedSessionsShape,
  sessionPageShape,
  sessionShape,
  sessionStateShape,
  settingsBody,
  settingsShape,
  signedInShape,
  verifyBody,
  zoneBody,
  zoneShape,
} from './shapes.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const setCookie = (about: string): Record<string, t.TSchema> => ({
  'Set-Cookie': t.text(about, 'sid=…; HttpOnly; SameSite=Lax; Path=/'),
})

/** The second step of the example sends this; a wallet signs the real text. */
export const signedSample = {
  message: `gw.example wants you to sign in with your Ethereum account:\n${wallet}\n\n…`,
  signature: `0x${'5c'.repeat(65)}`,
}

const { get, post } = r.entriesUnder('/api/auth')

export const signInArea = r.area('sign-in', 'dashboard', 'Sign-in', {
  about:
    'A wallet signs an EIP-4361 text and gets the cookie that the rest of the dashboard API ' +
    'needs. `nonce`, then `verify`; a program keeps the cookies of both. No e-mail, no password.',
  operations: [
    post('beginSignIn', '/nonce', 'Begin to sign in', {
      about:
        'Gives a nonce and the cookie that `verify` must come with. With an address the whole ' +
        'text to sign comes along; a client may also write its own around the nonce.',
      body: { schema: nonceBody, form: nonceBody, isOptional: true },
      examples: [
        { name: 'With the text to sign', body: { address: wallet } },
        { name: 'From a form', form: { address: wallet, next: '/dashboard' } },
      ],
      answers: [
        r.ok('The nonce.', nonceShape, setCookie('The cookie of this attempt.')),
        r.goesTo('To a plain form: the page that shows the text.'),
      ],
      refuses: ['rate_limited'],
    }),
    post('finishSignIn', '/verify', 'Sign in', {
      about:
        'Checks the text and its signature and sets the session cookie. An attempt that reaches ' +
        'the signature check uses up the nonce. `metadata.reason` of an error names the rule ' +
        'that the text broke.',
      body: verifyBody,
      examples: r.bothWays('A signed text', signedSample),
      answers: [
        r.ok('Who is signed in.', signedInShape, setCookie('The cookie of the session.')),
        r.goesTo('To a plain form: the page named as `next`.'),
      ],
      refuses: [
        ...(['signature_invalid', 'nonce_invalid', 'account_suspended'] as const),
        ...(['chain_unavailable', 'rate_limited'] as const),
      ],
    }),
    get('showSession', '/session', 'Who is signed in', {
      about: 'By the cookie of the request; without a live session `account` is null.',
      answers: r.ok('The account, or null.', sessionStateShape),
    }),
    post('signOut', '/logout', 'Sign out', {
      about: 'Ends the session in this browser and on the server. Safe to repeat.',
      answers: [
        r.ok('Signed out.', sessionStateShape, {
          ...setCookie('Deletes the cookies.'),
          'Clear-Site-Data': t.text(
            'Clears what the browser keeps.',
            '"cache", "cookies", "storage"',
          ),
        }),
        r.goesTo('To a browser that wants a page: the sign-in.'),
      ],
    }),
  ],
})

const portal = r.entriesUnder('/api/portal', { path: { id: t.id('sess', 'Id of a session.') } })

const change = {
  body: settingsBody,
  answers: r.done('The settings as they are now.', settingsShape),
}

export const accountEntries = [
  portal.get('showSettings', '/settings', 'Settings', {
    about: 'How long texts of runs are kept.',
    answers: r.ok('The settings.', settingsShape),
  }),
  portal.patch('changeSettings', '/settings', 'Change settings', {
    ...change,
    about: 'A shorter retention deletes at once what was kept for longer.',
    examples: [{ name: 'Keep texts for a day', body: { retention: '24h' } }],
  }),
  portal.post('changeSettingsByForm', '/settings', 'Change settings by a form', {
    ...change,
    about: 'The same as `PATCH`, which no plain form can send.',
    examples: [{ name: 'From a form', form: { retention: '24h' } }],
  }),
  portal.post('changeTimeZone', '/zone', 'Use a time zone', {
    about: 'For days and hours of the charts of this wallet. UTC unless one was chosen.',
    body: zoneBody,
    answers: r.done('The time zone.', zoneShape),
    examples: [
      { name: 'Berlin', body: { time_zone: 'Europe/Berlin' } },
      { name: 'From a form', form: { time_zone: 'Asia/Kolkata' } },
      { name: 'An unknown name', body: { time_zone: 'Mars/Olympus' }, status: 400 },
    ],
  }),
  portal.get('listSessions', '/sessions', 'List sessions', {
    about: 'Where the account is signed in, newest first.',
    query: r.pageQuery(t.sampleIds.sess),
    answers: r.shown('A page of sessions.', sessionPageShape),
  }),
  portal.post('revokeSession', '/sessions/:id/revoke', 'End a session', {
    about: 'At once and everywhere. One may end the session that asks.',
    examples: ['Another browser'],
    answers: r.done('The session that was ended.', sessionShape),
  }),
  portal.post('revokeOtherSessions', '/sessions/others/revoke', 'End all other sessions', {
    about: 'All but the one that asks.',
    answers: r.done('How many were ended.', revokedSessionsShape),
  }),
]
