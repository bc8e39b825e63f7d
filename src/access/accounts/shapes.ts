/** The bodies and answers of sign-in, settings and sessions. */
import { retentions } from '../../storage/texts/retention.ts'
import * as t from '../../web/http/shape.ts'

export const nonceShape = t.answer('Nonce', 'What a wallet is to sign.', {
  nonce: t.text(
    'Good once, for five minutes, with the cookie that came along.',
    'f4b1c0d29e8a7b36',
  ),
  'message?': t.text('The whole EIP-4361 text, where an address was named.', 'gw.example wants …'),
  expires_at: t.time('When the nonce ends.'),
})

export const signedInShape = t.answer('SignedIn', 'Who is signed in, in this browser.', {
  account: t.address('The account.'),
  expires_at: t.time('When the session ends unless it is used.'),
})

export const sessionStateShape = t.answer(
  'SessionState',
  'Who is signed in; `account` is null when signed out.',
  {
    account: t.orNull(t.address('The account; null when signed out.')),
    'expires_at?': t.time('When the session ends unless it is used.'),
  },
)

export const settingsShape = t.answer('Settings', 'What an account can set.', {
  object: t.only('settings'),
  account: t.address('The account.'),
  retention: t.oneOf('How long the texts of its runs are kept.', retentions),
  keeps_responses: t.flag('Whether responses are kept, encrypted, for a next turn.', true),
})

export const sessionShape = t.answer('Session', 'A browser that the account is signed in with.', {
  object: t.only('session'),
  id: t.id('sess', 'Id of the session.'),
  current: t.flag('Whether it is the one that asks.', true),
  created_at: t.time('When it was signed in.'),
  last_seen_at: t.time('Exact to a minute.'),
  expires_at: t.time('When it ends unless it is used.'),
  user_agent: t.text('What the browser calls itself.', 'Mozilla/5.0 …'),
  client_address: t.text('Where it was last.', '203.0.113.7'),
})

export const sessionPageShape = t.page('SessionPage', 'Sessions.', sessionShape)

export const revokedSessionsShape = t.answer('RevokedSessions', '', {
  revoked: t.count('Sessions that were ended.', 1),
})

const next = t.text(
  'For a form: the path of the page to go on to. A path of this server, else `/dashboard`.',
  '/dashboard/keys',
)

/** The body of `POST /api/auth/nonce`. */
export const nonceBody = t.body('NonceWish', 'Who is about to sign in.', {
  'address?': t.text(
    'Address of the wallet. With it the answer holds the whole text to sign.',
    t.sampleWallet,
  ),
  'next?': next,
})

/** The body of `POST /api/auth/verify`. */
export const verifyBody = t.body('SignedText', 'A signed text.', {
  message: t.text(
    'The EIP-4361 text that was signed, at most 2,048 bytes.',
    'gw.example wants you to sign in with your Ethereum account:\n0xf39F…',
  ),
  signature: t.text('The signature of `personal_sign` (EIP-191) as hex.', `0x${'5c'.repeat(65)}`),
  'next?': next,
})

/** The body of `PATCH /api/portal/settings`. */
export const settingsBody = t.body('SettingsChange', 'A setting to change.', {
  retention: t.word(
    'How long the texts of runs are kept. A shorter time deletes at once; `none` keeps no ' +
      'responses either.',
    retentions,
  ),
})

/** The body of `POST /api/portal/zone`. */
export const zoneBody = t.body('TimeZoneChange', 'A time zone to use.', {
  time_zone: t.text('Its IANA name.', 'Europe/Berlin'),
})

export const zoneShape = t.answer('TimeZone', 'The time zone of a person.', {
  object: t.only('time_zone'),
  time_zone: t.text('Its IANA name.', 'Europe/Berlin'),
})

export type SessionAnswer = t.Static<typeof sessionShape>
