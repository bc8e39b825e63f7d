import { nonceBody, verifyBody } from '../../../access/accounts/shapes.ts'
import { seeOther } from '../browser-answers.ts'
import { type Area, ok } from '../operation.ts'
import { address, object, orNull, ref, type Schema, type Schemas, text, time } from '../schema.ts'
import { shapeOf } from '../shape.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const setCookie = (about: string): Record<string, Schema> => ({
  'Set-Cookie': text(about, 'sid=…; HttpOnly; SameSite=Lax; Path=/'),
})

/** What the example of the second step sends; a wallet signs the real text. */
export const signedSample = {
  message: `gw.example wants you to sign in with your Ethereum account:\n${wallet}\n\n…`,
  signature: `0x${'5c'.repeat(65)}`,
}

const schemas: Schemas = {
  NonceWish: shapeOf(nonceBody),
  Nonce: object('What a wallet is to sign.', {
    nonce: text(
      'Good once, for five minutes, with the cookie that came along.',
      'f4b1c0d29e8a7b36',
    ),
    'message?': text('The whole EIP-4361 text, where an address was named.', 'gw.example wants …'),
    expires_at: time('When the nonce ends.'),
  }),
  SignedText: shapeOf(verifyBody),
  SignedIn: object('Who is signed in, in this browser.', {
    account: address('The account.'),
    expires_at: time('When the session ends unless it is used.'),
  }),
  SessionState: object('Who is signed in; `account` is null when signed out.', {
    account: orNull(address('The account; null when signed out.')),
    'expires_at?': time('When the session ends unless it is used.'),
  }),
}

export const signInArea: Area = {
  id: 'sign-in',
  group: 'dashboard',
  title: 'Sign-in',
  about:
    'A wallet signs an EIP-4361 text and gets the cookie that the rest of the dashboard API ' +
    'needs. `nonce`, then `verify`; a program keeps the cookies of both. No e-mail, no password.',
  operations: [
    {
      id: 'beginSignIn',
      route: 'POST /api/auth/nonce',
      title: 'Begin to sign in',
      about:
        'Gives a nonce and the cookie that `verify` must come with. With an address the whole ' +
        'text to sign comes along; a client may also write its own around the nonce.',
      access: 'none',
      body: { schema: ref('NonceWish'), form: ref('NonceWish'), isOptional: true },
      examples: [
        { name: 'With the text to sign', body: { address: wallet }, status: 200 },
        { name: 'From a form', form: { address: wallet, next: '/dashboard' }, status: 200 },
      ],
      answers: [
        ok('The nonce.', ref('Nonce'), setCookie('The cookie of this attempt.')),
        { ...seeOther, about: 'To a plain form: the page that shows the text.' },
      ],
      refuses: ['rate_limited'],
    },
    {
      id: 'finishSignIn',
      route: 'POST /api/auth/verify',
      title: 'Sign in',
      about:
        'Checks the text and its signature and sets the session cookie. An attempt that reaches ' +
        'the signature check uses up the nonce. `metadata.reason` of an error names the rule ' +
        'that the text broke.',
      access: 'none',
      body: { schema: ref('SignedText'), form: ref('SignedText') },
      examples: [
        { name: 'A signed text', body: signedSample, status: 200 },
        { name: 'From a form', form: signedSample, status: 200 },
      ],
      answers: [
        ok('Who is signed in.', ref('SignedIn'), setCookie('The cookie of the session.')),
        { ...seeOther, about: 'To a plain form: the page named as `next`.' },
      ],
      refuses: [
        'signature_invalid',
        'nonce_invalid',
        'account_suspended',
        'chain_unavailable',
        'rate_limited',
      ],
    },
    {
      id: 'showSession',
      route: 'GET /api/auth/session',
      title: 'Who is signed in',
      about: 'By the cookie of the request; without a live session `account` is null.',
      access: 'none',
      examples: [{ name: 'Who am I?', status: 200 }],
      answers: [ok('The account, or null.', ref('SessionState'))],
    },
    {
      id: 'signOut',
      route: 'POST /api/auth/logout',
      title: 'Sign out',
      about: 'Ends the session in this browser and on the server. Safe to repeat.',
      access: 'none',
      examples: [{ name: 'Sign out', status: 200 }],
      answers: [
        ok('Signed out.', ref('SessionState'), {
          ...setCookie('Deletes the cookies.'),
          'Clear-Site-Data': text(
            'Clears what the browser keeps.',
            '"cache", "cookies", "storage"',
          ),
        }),
        { ...seeOther, about: 'To a browser that wants a page: the sign-in.' },
      ],
    },
  ],
  schemas,
}
