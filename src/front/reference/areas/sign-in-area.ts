/** Reference entries of sign-in. */
import {
  nonceBody,
  nonceShape,
  sessionStateShape,
  signedInShape,
  verifyBody,
} from '../../../access/accounts/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { seeOther } from '../browser-answers.ts'
import { area, ok, operation } from '../entry.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const setCookie = (about: string): Record<string, t.TSchema> => ({
  'Set-Cookie': t.text(about, 'sid=…; HttpOnly; SameSite=Lax; Path=/'),
})

/** What the example of the second step sends; a wallet signs the real text. */
export const signedSample = {
  message: `gw.example wants you to sign in with your Ethereum account:\n${wallet}\n\n…`,
  signature: `0x${'5c'.repeat(65)}`,
}

export const signInArea = area('sign-in', 'dashboard', 'Sign-in', {
  about:
    'A wallet signs an EIP-4361 text and gets the cookie that the rest of the dashboard API ' +
    'needs. `nonce`, then `verify`; a program keeps the cookies of both. No e-mail, no password.',
  operations: [
    operation('beginSignIn', 'POST /api/auth/nonce', 'Begin to sign in', {
      about:
        'Gives a nonce and the cookie that `verify` must come with. With an address the whole ' +
        'text to sign comes along; a client may also write its own around the nonce.',
      access: 'none',
      body: { schema: nonceBody, form: nonceBody, isOptional: true },
      examples: [
        { name: 'With the text to sign', body: { address: wallet }, status: 200 },
        { name: 'From a form', form: { address: wallet, next: '/dashboard' }, status: 200 },
      ],
      answers: [
        ok('The nonce.', nonceShape, setCookie('The cookie of this attempt.')),
        { ...seeOther, about: 'To a plain form: the page that shows the text.' },
      ],
      refuses: ['rate_limited'],
    }),
    operation('finishSignIn', 'POST /api/auth/verify', 'Sign in', {
      about:
        'Checks the text and its signature and sets the session cookie. An attempt that reaches ' +
        'the signature check uses up the nonce. `metadata.reason` of an error names the rule ' +
        'that the text broke.',
      access: 'none',
      body: { schema: verifyBody, form: verifyBody },
      examples: [
        { name: 'A signed text', body: signedSample, status: 200 },
        { name: 'From a form', form: signedSample, status: 200 },
      ],
      answers: [
        ok('Who is signed in.', signedInShape, setCookie('The cookie of the session.')),
        { ...seeOther, about: 'To a plain form: the page named as `next`.' },
      ],
      refuses: [
        'signature_invalid',
        'nonce_invalid',
        'account_suspended',
        'chain_unavailable',
        'rate_limited',
      ],
    }),
    operation('showSession', 'GET /api/auth/session', 'Who is signed in', {
      about: 'By the cookie of the request; without a live session `account` is null.',
      access: 'none',
      answers: [ok('The account, or null.', sessionStateShape)],
    }),
    operation('signOut', 'POST /api/auth/logout', 'Sign out', {
      about: 'Ends the session in this browser and on the server. Safe to repeat.',
      access: 'none',
      answers: [
        ok('Signed out.', sessionStateShape, {
          ...setCookie('Deletes the cookies.'),
          'Clear-Site-Data': t.text(
            'Clears what the browser keeps.',
            '"cache", "cookies", "storage"',
          ),
        }),
        { ...seeOther, about: 'To a browser that wants a page: the sign-in.' },
      ],
    }),
  ],
})
