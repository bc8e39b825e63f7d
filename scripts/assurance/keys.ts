import type { Group } from './row.ts'

export const keys: Group = {
  title: 'Keys',
  rows: [
    {
      id: 'A1',
      severity: 'C',
      promise: 'A secret has 256 random bits, one form and one length, and ends in a checksum.',
      tests: [
        [
          'test/keys/secret.test.ts',
          'has 60 characters of the documented form, 10,000 times without a duplicate',
        ],
        ['test/keys/secret.test.ts', 'carries 256 bits, and its digits are evenly spread'],
      ],
      guards: [['src/access/keys/secret.ts', 'makeSecret']],
    },
    {
      id: 'A2',
      severity: 'C',
      promise:
        'Only the SHA-256 of a secret is stored; the secret is shown once and stands nowhere else.',
      tests: [
        [
          'test/binary/secrets.test.ts',
          'the secret of a key is nowhere but in the hands of who made it',
        ],
        ['test/idempotency/keys.test.ts', 'no secret stands in the table, also not sealed'],
        ['test/keys/portal-forms.test.ts', 'the cookie of a secret opens for its session and key'],
      ],
      guards: [['src/access/keys/secret.ts', 'hashSecret']],
    },
    {
      id: 'A3',
      severity: 'H',
      promise: 'Every header that is no key of ours gets the same 401.',
      tests: [
        ['test/binary/spelling.test.ts', 'is answered alike, byte for byte but for the request id'],
        ['test/binary/authentication.test.ts', 'with an unknown key is 401 invalid_key'],
      ],
      guards: [
        ['src/access/keys/needs-key.ts', 'callerOf'],
        ['src/web/http/limits.ts', 'refuseInvalidKey'],
      ],
    },
    {
      id: 'A4',
      severity: 'H',
      promise: 'A key is expired exactly from its moment on, in every time zone.',
      tests: [
        ['test/keys/key.test.ts', 'is expired exactly from expires_at on'],
        ['test/binary/authentication.test.ts', 'with a key that is %s is %i %s'],
      ],
      guards: [['src/access/keys/key.ts', 'statusOf']],
    },
    {
      id: 'A5',
      severity: 'C',
      promise: 'A revoked key, and every key below it, is refused from the answer on.',
      tests: [
        [
          'test/keys/revoke.test.ts',
          'takes the key and all below it, to depth 4, from its commit on',
        ],
        [
          'test/keys/revoke.test.ts',
          'is never straddled: of holds that race with it, none is taken after it',
        ],
        [
          'test/ledger/nodes.test.ts',
          'take no hold from the commit of a revocation on the other node on',
        ],
      ],
      guards: [
        ['src/access/keys/key.ts', 'assertUsable'],
        ['src/runs/begin.ts', 'begin'],
      ],
    },
    {
      id: 'A9',
      severity: 'C',
      promise: 'A key has no more rights, cap or time than the key above it.',
      tests: [
        [
          'test/keys/issue.test.ts',
          'in random trees of random wishes is never more than any key above it',
        ],
        [
          'test/keys/rights.test.ts',
          'no key ever has a right that a key above it lacks, nor spends beyond any cap',
        ],
      ],
      guards: [
        ['src/access/keys/issue.ts', 'issueKey'],
        ['src/access/keys/bounds.ts', 'boundScopes'],
      ],
    },
    {
      id: 'A10',
      severity: 'C',
      promise: 'The holds and spending of a key tree stay within every cap above it.',
      tests: [
        [
          'test/ledger/simulation.test.ts',
          'does what a ten-line model does, and conserves money after every step',
        ],
        [
          'test/simulation/simulation.test.ts',
          'does what the model says after every command, whatever is killed, lost or set back',
        ],
        [
          'test/ledger/affordable.test.ts',
          'exactly 50 are taken where the cap of the parent binds',
        ],
        ['test/ledger/nodes.test.ts', 'keep the cap of a parent whose children spend on both'],
      ],
      guards: [
        ['src/ledger/hold.ts', 'takeHold'],
        ['src/ledger/hold.ts', 'roomsOf'],
      ],
    },
    {
      id: 'A12',
      severity: 'C',
      promise: "Other accounts' resources return the same 404 as missing ones.",
      tests: [
        [
          'test/receipts/share.test.ts',
          'private, unknown and malformed ids answer alike, whoever asks',
        ],
        [
          'test/runs/shown.test.ts',
          'answers alike for foreign, missing and malformed ids, but for the request id',
        ],
        [
          'test/keys/one-door.test.ts',
          '%s /v1/keys/:id%s answers alike for a foreign, a higher and a missing key',
        ],
        [
          'test/passports/claims.test.ts',
          '404 for another account’s passport, whatever is asked of it',
        ],
      ],
      guards: [
        ['src/access/keys/owns.ts', 'owns'],
        ['src/proof/passports/own.ts', 'readOwnPassport'],
      ],
    },
    {
      id: 'A13',
      severity: 'C',
      promise: 'No body sets an account, a balance, a state or a secret.',
      tests: [
        ['test/keys/refused.test.ts', 'of POST /v1/keys with %s'],
        ['test/keys/refused.test.ts', 'of PATCH /v1/keys/:id with %s'],
        [
          'test/plans/portal.test.ts',
          '404 for a plan there is not; 400 for a field it does not know',
        ],
        ['test/docs/document.test.ts', 'shows the body that the door checks'],
      ],
      guards: [
        ['src/access/keys/api/key-body.ts', 'mintBody'],
        ['src/web/http/check-body.ts', 'checkBody'],
      ],
    },
    {
      id: 'A14',
      severity: 'H',
      promise: 'An answer has the members that are described, and no other.',
      tests: [
        [
          'test/docs/examples.test.ts',
          'every example is answered as it says, in the shape it says',
        ],
        ['test/docs/examples.test.ts', 'what an owner sees of a receipt is described too'],
        ['test/docs/portal.test.ts', 'every example of the dashboard API is answered as it says'],
      ],
      guards: [['src/front/reference/document.ts', 'openApiOf']],
    },
    {
      id: 'A19',
      severity: 'H',
      promise:
        'The document at /openapi.json has every API route that is served and no other, is valid ' +
        'OpenAPI 3.1, and names every error that a route of the dashboard refuses with.',
      tests: [
        ['test/docs/document.test.ts', 'has every API route that is served, and no other'],
        ['test/docs/document.test.ts', 'is valid OpenAPI 3.1'],
        ['test/docs/portal.test.ts', 'what the dashboard API refuses is described'],
      ],
      guards: [['src/front/reference/document.ts', 'openApiOf']],
    },
    {
      id: 'A21',
      severity: 'H',
      promise:
        'Each area of the reference is one document of less than 60 kB that needs no other, and ' +
        'types every error; refusals have the metadata that it describes.',
      tests: [
        ['test/docs/areas.test.ts', '%s has less than 60 kB'],
        ['test/docs/areas.test.ts', '%s has all that it refers to, and nothing else'],
        ['test/docs/areas.test.ts', '%s types each refusal'],
        ['test/docs/examples.test.ts', 'what is refused is described'],
        ['test/docs/lint.test.ts', 'Redocly finds no error'],
        ['test/docs/lint.test.ts', 'Spectral finds no error'],
        ['test/docs/typed.test.ts', 'A tool loop of the types of %s compiles and runs.'],
      ],
      guards: [['src/front/reference/components.ts', 'partOf']],
    },
    {
      id: 'A22',
      severity: 'C',
      promise:
        'Through MCP a key makes and revokes only keys below it, within its cap, and is refused ' +
        'as under /v1.',
      tests: [
        [
          'test/mcp/keys.test.ts',
          'A key that mint_key made pays from the cap of the key above it.',
        ],
        ['test/mcp/keys.test.ts', 'A key without keys:mint, and a cap above that of the parent'],
        ['test/mcp/keys.test.ts', 'A key below is revoked at once'],
      ],
      guards: [['src/front/mcp/api/mcp-server.ts', 'callTool']],
    },
    {
      id: 'A20',
      severity: 'H',
      promise:
        'A repeated subscription with the same Idempotency-Key gets the bytes of the first answer.',
      tests: [['test/docs/portal.test.ts', '%s gives the same answer again']],
      guards: [['src/billing/plans/subscribe.ts', 'subscribe']],
    },
    {
      id: 'A15',
      severity: 'C',
      promise: 'A key opens no page, a session no keyed route, and a keyless route ignores keys.',
      tests: [
        [
          'test/accounts/csrf.test.ts',
          'A key opens no page of the dashboard, and a session opens no route of keys',
        ],
        [
          'test/accounts/csrf.test.ts',
          'every unsafe route under /api/portal refuses who is not signed in',
        ],
        ['test/docs/examples.test.ts', '%s does not ask for a key and ignores a bad one'],
        ['test/docs/examples.test.ts', '%s without a key'],
      ],
      guards: [
        ['src/access/accounts/needs-session.ts', 'sessionAuth'],
        ['src/access/keys/needs-key.ts', 'keyAuth'],
      ],
    },
    {
      id: 'A16',
      severity: 'C',
      promise: 'No other spelling of a request reaches a guarded route.',
      tests: [
        ['test/binary/spelling.test.ts', 'whatever the Host and the path'],
        [
          'test/binary/spelling.test.ts',
          'a good key through the odd spellings opens nothing else than its own route',
        ],
        ['test/http/root.test.ts', 'a guarded route cannot be reached by another spelling'],
      ],
      guards: [
        ['src/access/keys/needs-key.ts', 'keyAuth'],
        ['src/web/http/host.ts', 'hostCheck'],
      ],
    },
    {
      id: 'A18',
      severity: 'C',
      promise: 'A key is looked up by its hash as a parameter, and is in no error, log or label.',
      tests: [
        [
          'test/binary/secrets.test.ts',
          'the secret of a key is nowhere but in the hands of who made it',
        ],
        [
          'test/logging/redact.test.ts',
          'is logged with its text, its cause and its place, without its values',
        ],
        ['test/house.test.ts', 'the outside world enters through its own files'],
        [
          'test/metrics/metrics.test.ts',
          'nothing in it names an account, a key or what anybody wrote',
        ],
      ],
      guards: [
        ['src/access/keys/store.ts', 'keyStore'],
        ['src/kernel/redact.ts', 'redact'],
      ],
    },
  ],
}
