import type { Group } from './row.ts'

export const keyless: Group = {
  title: 'Who has no key',
  rows: [
    {
      id: 'J1',
      severity: 'H',
      promise: "The address of a client is its peer's, unless a trusted proxy vouches for another.",
      tests: [
        ['test/http/address.test.ts', 'the address of whoever called'],
        [
          'test/terminal/client.test.ts',
          'without trusted proxies a forged X-Forwarded-For does nothing',
        ],
      ],
      guards: [['src/web/http/client-address.ts', 'clientAddress']],
    },
    {
      id: 'J2',
      severity: 'H',
      promise: 'An IPv6 network of /64 is one client, and an IPv4 address one in either form.',
      tests: [
        ['test/http/address.test.ts', 'what a client is counted under'],
        [
          'test/terminal/client.test.ts',
          'addresses of one IPv6 /64 are one client, the next /64 is another',
        ],
      ],
      guards: [['src/web/http/client-address.ts', 'rateKey']],
    },
    {
      id: 'J3',
      severity: 'H',
      promise: 'Counting clients takes bounded memory, which a flood does not wash out.',
      tests: [
        ['test/http/limits.test.ts', 'does not grow the memory or wash out what was counted'],
      ],
      guards: [['src/web/http/limits.ts', 'makeLimiter']],
    },
    {
      id: 'J4',
      severity: 'C',
      promise:
        'The terminal is free in small amounts only, and never beyond the budget of its day.',
      tests: [
        [
          'test/terminal/budget.test.ts',
          'they do not get past it; then 503 until midnight, and the next day goes on',
        ],
        ['test/terminal/ask.test.ts', 'at most 256 tokens of an answer, 2 KiB of a question'],
        [
          'test/terminal/ask.test.ts',
          'only models that are opened to it: others are refused, and cost no ask',
        ],
        ['test/terminal/client.test.ts', 'many at once take no more than there are'],
        [
          'test/terminal/ask.test.ts',
          'eight at once of all: the ninth is 503 and says when to come again',
        ],
      ],
      guards: [
        ['src/front/terminal/ask.ts', 'beginAsk'],
        ['src/front/terminal/allowance.ts', 'takeAsk'],
        ['src/front/terminal/sponsor.ts', 'sponsorCaller'],
      ],
    },
    {
      id: 'J7',
      severity: 'H',
      promise: 'Clients that send their head or body slowly do not keep others out.',
      tests: [
        ['test/http/slow.test.ts', '600 of them keep nobody else out'],
        ['test/http/slow-body.test.ts', 'keep nobody else out, and all are over soon'],
        ['test/http/slow-body.test.ts', 'is given up after its time, dripping or not, and its'],
        ['test/http/slow-body.test.ts', 'are so many and no more; %s has its own'],
        [
          'test/http/slow-body.test.ts',
          'a head that does not arrive is given up by 12 s, dripping or not',
        ],
      ],
      guards: [
        ['src/web/http/serve.ts', 'idleTimeoutSeconds'],
        ['src/web/http/expected-body.ts', 'expectBodies'],
        ['src/web/http/slow-body.ts', 'inTime'],
      ],
      missing:
        'a bound on connections of one address before they send the head of a request: Bun does ' +
        'not tell of them, so that is for a proxy or a firewall, as service.md says.',
    },
    {
      id: 'J8',
      severity: 'H',
      promise: 'No text makes a check take more than linear time.',
      tests: [
        ['test/docs/examples.test.ts', '%s with any text of 100,000 characters'],
        ['test/keys/key.test.ts', 'is decided in time linear in its length'],
        [
          'test/accounts/siwe.test.ts',
          '413: a megabyte is not read and does not delay other requests',
        ],
        ['test/fuzz/patterns.test.ts', 'no pattern takes more than linear time'],
      ],
      guards: [
        ['src/access/keys/key.ts', 'matches'],
        ['src/access/accounts/siwe.ts', 'maxMessageBytes'],
      ],
    },
  ],
}
