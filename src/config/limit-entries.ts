/** The settings of `[limits]`. */
import { live, optional, set } from './setting.ts'
import { flag, integer } from './values.ts'

export const limitEntries = {
  body_bytes: live(
    set(
      integer('bytes', 1024, 134_217_728),
      '33_554_432',
      'Largest request body, packed or unpacked.',
    ),
  ),
  client_bytes: live(
    optional(
      integer('bytes', 1024, 1_099_511_627_776),
      'Bytes that clients make a process keep at once, shared fairly by account: large request ' +
        'bodies, and streams that are not read. More bodies get 429, more streams end. Default: ' +
        'a quarter of the usable memory, at least 256 MiB.',
    ),
  ),
  keep_responses_hours: live(
    set(
      integer('hours', 0, 720),
      '24',
      'How long answers of /v1/responses are kept, encrypted, for a next turn; 0 keeps none.',
    ),
  ),
  keep_responses_bytes: live(
    set(
      integer('bytes', 1_048_576, 1_099_511_627_776),
      '67_108_864',
      'Most bytes of kept responses of one account; the oldest are deleted first.',
    ),
  ),
  body_timeout_s: live(
    set(
      integer('s', 2, 3600),
      '30',
      'Longest time for a request body to arrive; with a key or a session a second more for ' +
        'every 128 KiB of its Content-Length.',
    ),
  ),
  slow_bodies: live(
    set(
      integer('bodies', 1, 1_000_000),
      '64',
      'Concurrent bodies per client address slower than one second; more get 429.',
    ),
  ),
  rpm: live(set(integer('requests/min', 1, 10_000_000), '6_000', 'Requests per key.')),
  concurrency: live(set(integer('runs', 1, 1_000_000), '1_024', 'Concurrent runs per key.')),
  free_writes_per_day: live(
    set(
      integer('rows', 0, 1_000_000_000),
      '10_000',
      'Rows that an account may store a UTC day without paying: free runs, quotes, keys and ' +
        'changes. Each dollar that it ever paid adds as many; more get 429. 0 for no limit.',
    ),
  ),
  free_bytes_per_day: live(
    set(
      integer('bytes', 0, 1_099_511_627_776),
      '16_777_216',
      'Bytes of these rows; each dollar that it ever paid adds as many. 0 for no limit.',
    ),
  ),
  unpaid_runs_per_day: live(
    set(
      integer('runs', 0, 1_000_000_000),
      '20_000',
      'Runs of an account a UTC day that held money and ended at no cost because its client ' +
        'hung up, cancelled or sent what the model refuses, or a step without a price answered. ' +
        'Each dollar that it ever paid adds as many; more get 429. 0 for no limit.',
    ),
  ),
  free_for_all: live(
    optional(
      flag,
      'Whether accounts that never had money may use built-in models without a price. ' +
        'Default: only if base_url is not https.',
    ),
  ),
  unfunded_runs: live(
    set(
      integer('runs', 0, 1_000_000),
      '2',
      'Concurrent runs of an account whose balance is empty; more get 429 before a body is ' +
        'read. 0 for no limit.',
    ),
  ),
  session_per_minute: live(
    set(
      integer('requests/min', 1, 1_000_000),
      '600',
      'Requests of one wallet for its dashboard; more get 429. A change counts three.',
    ),
  ),
  keyless_per_minute: live(
    set(
      integer('requests/min', 1, 10_000_000),
      '6_000',
      'Costly requests without a key per client address: terminal, verification, MCP.',
    ),
  ),
  failed_auth_per_minute: live(
    set(
      integer('failures/min', 1, 1_000_000),
      '300',
      'Failed keys from one client address before further failures get 429.',
    ),
  ),
  admission: live(
    set(
      integer('runs', 1, 1_000_000),
      '2_048',
      'Concurrent runs of the whole server; accounts share them fairly.',
    ),
  ),
  drain_s: live(
    set(
      integer('s', 1, 3600),
      '300',
      'Longest time an answer is read to its end for a client that hung up.',
    ),
  ),
  stop_grace_s: set(
    integer('s', 0, 3600),
    '25',
    'How long runs may continue after SIGTERM before they are stopped and settled.',
  ),
} as const
