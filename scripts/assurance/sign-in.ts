import type { Group } from './row.ts'

export const signIn: Group = {
  title: 'Sign-in and sessions',
  rows: [
    {
      id: 'B1',
      severity: 'H',
      promise: 'The published texts of EIP-4361 are read, refused and verified as published.',
      tests: [['test/accounts/siwe-vectors.test.ts', 'EIP-4361 vectors (VECTORS_DIR)']],
      guards: [['src/access/accounts/siwe.ts', 'parseSiwe']],
    },
    {
      id: 'B2',
      severity: 'C',
      promise: 'Texts that differ from ours in any detail are refused, although honestly signed.',
      tests: [['test/accounts/siwe.test.ts', 'POST /api/auth/verify, each text honestly signed']],
      guards: [['src/access/accounts/siwe.ts', 'parseSiwe']],
    },
    {
      id: 'B3',
      severity: 'C',
      promise: 'Domain, URI, version and chain of a text are exactly ours.',
      tests: [
        ['test/accounts/siwe.test.ts', 'POST /api/auth/verify, each text honestly signed'],
        [
          'test/accounts/siwe-vectors.test.ts',
          'none of those that were verified elsewhere is one to sign in here with',
        ],
      ],
      guards: [['src/access/accounts/siwe.ts', 'checkSite']],
    },
    {
      id: 'B4',
      severity: 'C',
      promise: 'A nonce is ours, ends after five minutes, and is used up by the first attempt.',
      tests: [
        [
          'test/accounts/sign-in.test.ts',
          '200 verifications at once of one signed text make one session',
        ],
        [
          'test/accounts/sign-in.test.ts',
          'a nonce is used up by the first attempt that reaches the signature, good or',
        ],
        ['test/accounts/session.test.ts', 'a nonce ends after five minutes, and is swept then'],
      ],
      guards: [
        ['src/access/accounts/store/nonce.ts', 'nonceStore'],
        ['src/access/accounts/sign-in.ts', 'verifyAttempt'],
      ],
    },
    {
      id: 'B6',
      severity: 'H',
      promise: 'The times in a text are honoured, with one minute of skew.',
      tests: [['test/accounts/siwe.test.ts', 'POST /api/auth/verify, each text honestly signed']],
      guards: [['src/access/accounts/siwe.ts', 'checkTimes']],
    },
    {
      id: 'B7',
      severity: 'H',
      promise: 'The signature is checked over the bytes that came, which read back to themselves.',
      tests: [['test/accounts/siwe.test.ts', 'POST /api/auth/verify, each text honestly signed']],
      guards: [
        ['src/access/accounts/siwe.ts', 'parseSiwe'],
        ['src/access/accounts/sign-in.ts', 'isSignatureOf'],
      ],
    },
    {
      id: 'B8',
      severity: 'H',
      promise: 'Input that is too long is refused before it is read.',
      tests: [
        [
          'test/accounts/siwe.test.ts',
          '413: a megabyte is not read and does not delay other requests',
        ],
        ['test/accounts/siwe.test.ts', 'a signature %s'],
      ],
      guards: [
        ['src/access/accounts/siwe.ts', 'maxMessageBytes'],
        ['src/access/accounts/shapes.ts', 'verifyBody'],
      ],
    },
    {
      id: 'B9',
      severity: 'H',
      promise: 'A text to sign in with is a string, never an object.',
      tests: [['test/accounts/siwe.test.ts', '400 invalid_request: %s']],
      guards: [['src/access/accounts/shapes.ts', 'verifyBody']],
    },
    {
      id: 'B10',
      severity: 'H',
      promise: 'One wallet is one account, also when it signs in many times at once.',
      tests: [['test/accounts/sign-in.test.ts', '50 first sign-ins at once open one account']],
      guards: [['src/access/accounts/account.ts', 'toAccountId']],
    },
    {
      id: 'B11',
      severity: 'C',
      promise: 'With contract wallets off, no sign-in asks the chain.',
      tests: [
        [
          'test/accounts/contract-wallet.test.ts',
          'no sign-in asks the chain: not a good one, a bad one or a wrapped one',
        ],
      ],
      guards: [['src/access/accounts/sign-in.ts', 'isSignatureOf']],
    },
    {
      id: 'B12',
      severity: 'C',
      promise: 'With contract wallets on, only an exact yes of our own chain is a yes.',
      tests: [
        [
          'test/accounts/contract-wallet.test.ts',
          '503 chain_unavailable, never a pass: an RPC server that %s',
        ],
        ['test/accounts/contract-wallet.test.ts', '403 signature_invalid: a contract that %s'],
        [
          'test/accounts/contract-wallet.test.ts',
          '503 chain_unavailable: an RPC server of another chain, and one that is gone',
        ],
      ],
      guards: [['src/access/accounts/contract-wallet.ts', 'contractWallets']],
    },
    {
      id: 'B13',
      severity: 'C',
      promise: 'A session is a new one at each sign-in; a value set before never becomes one.',
      tests: [
        [
          'test/accounts/session.test.ts',
          'a value that was there before never becomes a session (fixation)',
        ],
        [
          'test/accounts/session.test.ts',
          'is a new one at every sign-in, and the browser’s old one ends',
        ],
      ],
      guards: [['src/access/accounts/sign-in.ts', 'openSession']],
    },
    {
      id: 'B14',
      severity: 'C',
      promise: 'Only the hash of a session is stored, and each way to end one ends it at once.',
      tests: [
        ['test/accounts/session.test.ts', 'only the hash of a token is stored'],
        [
          'test/accounts/session.test.ts',
          'logout ends it for every copy of the cookie, twice without harm',
        ],
        ['test/accounts/session.test.ts', 'all others can be revoked at once'],
        ['test/accounts/session.test.ts', 'end after a day without use, and after a week with it'],
        [
          'test/accounts/sign-in.test.ts',
          '403 account_suspended: a suspended account neither signs in nor stays in',
        ],
      ],
      guards: [
        ['src/access/accounts/store/session.ts', 'sessionStore'],
        ['src/access/accounts/needs-session.ts', 'currentSession'],
      ],
    },
    {
      id: 'B16',
      severity: 'H',
      promise:
        'Cookies have the attributes that the scheme of our address allows, deleted ones too.',
      tests: [
        [
          'test/accounts/csrf.test.ts',
          'on https only this host can set them, and they never leave it in the clear',
        ],
        [
          'test/browser/sign-in.test.ts',
          'a wallet signs in, the cookie is no script’s, and signing out ends it',
        ],
        [
          'test/accounts/csrf.test.ts',
          'on http they carry no Secure, which would keep some clients from sending them',
        ],
      ],
      guards: [['src/web/http/cookies.ts', 'attributesOn']],
    },
    {
      id: 'B17',
      severity: 'C',
      promise: 'Another origin, also another port of this host, changes nothing with a cookie.',
      tests: [
        ['test/accounts/csrf.test.ts', 'every Sec-Fetch-Site with the origin: %s'],
        [
          'test/browser/sign-in-by-hand.test.ts',
          'a page on another port of this host can do nothing with the cookie',
        ],
      ],
      guards: [['src/web/http/same-origin.ts', 'assertSameOrigin']],
    },
    {
      id: 'B18',
      severity: 'H',
      promise: 'GET, HEAD and OPTIONS change nothing, and forms come as forms or JSON.',
      tests: [
        ['test/accounts/csrf.test.ts', 'GET, HEAD and OPTIONS change nothing in any account'],
        ['test/accounts/siwe.test.ts', '415: another type of body'],
        ['test/http/sse.test.ts', 'HEAD runs nothing'],
      ],
      guards: [
        ['src/web/http/methods.ts', 'methodNotAllowed'],
        ['src/web/http/fields.ts', 'readForm'],
      ],
    },
    {
      id: 'B19',
      severity: 'H',
      promise: 'No page of another origin reads the dashboard, and none sends credentials to /v1.',
      tests: [
        ['test/accounts/csrf.test.ts', 'no answer under /api lets another origin read it'],
        ['test/http/cors.test.ts', '%s may be read, without credentials'],
        ['test/http/cors.test.ts', 'may read nothing else'],
      ],
      guards: [['src/web/http/methods.ts', 'openToAnyOrigin']],
    },
    {
      id: 'B23',
      severity: 'C',
      promise:
        'An answer of the console stops with its session, on every node, and charges what it said.',
      tests: [
        ['test/console/session.test.ts', 'an answer of the console stops with its session, on %s'],
        [
          'test/binary/two-nodes.test.ts',
          'a sign-out at one stops a console answer of the other within two seconds',
        ],
      ],
      guards: [['src/runs/stop-forbidden.ts', 'stopForbidden']],
    },
    {
      id: 'B24',
      severity: 'H',
      promise: 'A value that looks like another one is refused, never read as something else.',
      tests: [
        ['test/kernel/time-text.test.ts', 'a time as text'],
        ['test/http/told-exactly.test.ts', 'a value that cannot be taken'],
        [
          'test/runs/switches.test.ts',
          'a member that decides how a request is answered or charged',
        ],
      ],
      guards: [
        ['src/kernel/time-text.ts', 'parseTime'],
        ['src/runs/switches.ts', 'checkSwitches'],
      ],
    },
    {
      id: 'B25',
      severity: 'C',
      promise: 'The test account of `serve --dev` is signed in over loopback only, by no proxy.',
      tests: [
        ['test/accounts/test-account.test.ts', 'without --dev it is a 404'],
        ['test/accounts/test-account.test.ts', 'behind a proxy that sends'],
        ['test/accounts/test-account.test.ts', 'a peer at %s is not offered it'],
      ],
      guards: [['src/access/accounts/api/test-account.ts', 'testAccountFor']],
    },
    {
      id: 'B20',
      severity: 'H',
      promise: 'A request for another Host is refused before any route.',
      tests: [
        ['test/http/host.test.ts', '421 misdirected_request, whatever the path and key'],
        [
          'test/binary/spelling.test.ts',
          'another Host is answered 421 with the error body, two Hosts never 200',
        ],
      ],
      guards: [['src/web/http/host.ts', 'hostCheck']],
    },
  ],
}
