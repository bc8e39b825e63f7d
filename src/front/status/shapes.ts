/** The answers of `/v1/status` and the probes. */
import type { SenderStatus } from '../../proof/anchors/anchor-status.ts'
import * as t from '../../web/http/shape.ts'

const witnessTroubles = [
  'unreachable',
  'unknown_log',
  'unknown_key',
  'contradicted',
  'ahead',
  'bad_signature',
] as const

const words = ['ok', 'disabled', 'unchecked', 'degraded', 'diverged'] as const

export const statusShape = t.answer(
  'Status',
  'How the server is. A part that is off says `disabled`; nothing pretends.',
  {
    object: t.only('status'),
    status: t.oneOf('All in all.', ['ok', 'degraded']),
    version: t.text('Of the program.', '0.1.0'),
    commit: t.orNull(t.text('Of its source.', '9f2c4e6')),
    'shard?': t.text('Its shard; absent without shards.', 's3'),
    'moves?': t.list(
      t.object('A move of slots.', {
        id: t.text('The same on both shards.', 'mov_s301k3w8q0vyt5e9r7m2x6hb4dz'),
        slots: t.text('Which.', '300-303'),
        from: t.text('The shard that had them.', 's3'),
        to: t.text('The shard that gets them.', 's4'),
        state: t.oneOf('How far it is, as this shard knows.', [
          'leaving',
          'left',
          'gone',
          'arriving',
          'here',
          'stayed',
        ]),
        digest: t.orNull(t.text('SHA-256 of all rows that moved; equal on both.', '9f2c4e6…')),
        stalled: t.flag('Whether it is not over, and no command goes on with it.', false),
      }),
      'Moves of slots from and to this shard.',
    ),
    uptime_s: t.count('Seconds since its start.', 3600),
    chain: t.object('Chain 4663, as it was seen last.', {
      id: t.integer('Always 4663.', 4663),
      head: t.usuallyNull(t.count('The newest block.', 1_234_567)),
      lag_s: t.usuallyNull(t.count('Seconds since that was seen.', 1)),
      status: t.text('`ok`, `disabled`, `unchecked`, or why it does not answer.', 'ok'),
    }),
    log: t.object('The log of receipts.', {
      size: t.orNull(t.count('Leaves.', 12)),
      status: t.oneOf('Whether it has all that is known to be signed.', [
        'ok',
        'unchecked',
        'diverged',
      ]),
      'damaged_leaf?': t.count('A leaf that is damaged in the database; absent if none is.', 7),
      anchored_size: t.orNull(t.count('Leaves on the chain.', 10)),
      oldest_unanchored_s: t.usuallyNull(t.count('How long the oldest of the rest waits.', 30)),
    }),
    ledger: t.oneOf('Whether all balances follow from their journal.', [
      'balanced',
      'checking',
      'unbalanced',
    ]),
    models: t.object('How many.', {
      live: t.count('That run.', 2),
      degraded: t.count('Whose upstreams all rest after failures, or refuse our key.', 0),
      failing_upstreams: t.count('Upstreams that do so; other steps of a route may serve.', 0),
    }),
    clock: t.object("This machine's clock, compared to the database's.", {
      status: t.oneOf('Above 2 s it is skewed; above 30 s, wrong: the server takes no runs.', [
        'ok',
        'skewed',
        'wrong',
      ]),
      offset_ms: t.usuallyNull(t.integer('How far it is ahead; null on SQLite.', 12)),
    }),
    database: t.object('Where data lives.', {
      engine: t.oneOf('Which.', ['sqlite', 'postgres']),
      schema: t.count('Version of its tables.', 8),
      migrated: t.oneOf(
        '`newer`: a newer version added to its tables. `foreign`: it changed them, and this ' +
          'server takes no runs.',
        ['ok', 'newer', 'foreign'],
      ),
      status: t.oneOf('Whether it answers, and stores what is new.', ['ok', 'read_only', 'down']),
      'connections?': t.oneOf(
        'On PostgreSQL: `few` when it refused one more; this server works with those it has.',
        ['enough', 'few'],
      ),
      'notices?': t.oneOf(
        'On PostgreSQL: how this node learns what other nodes did. `polling`, which is up to a ' +
          'second slower, when LISTEN does not get through.',
        ['listening', 'polling'],
      ),
    }),
    anchors: t.object('The way of the log to the chain.', {
      status: t.oneOf('How it goes.', words),
      'reason?': t.usuallyNull(t.text('Why not.', 'late')),
      'sender?': t.anything<SenderStatus>('Who pays for it: `{address, balance_wei, low}`.', {}),
      lag_s: t.usuallyNull(t.count('How long the oldest receipt waits.', 30)),
    }),
    witnesses: t.object('Who signs the heads of the log beside it.', {
      required: t.count('How many should sign each.', 2),
      data: t.list(
        t.object('A witness.', {
          name: t.text('As the operator names it.', 'Example'),
          key: t.text('Its cosignature key.', 'w.example/1+1f2e3d4c+BA…'),
          size: t.orNull(t.count('Leaves of the newest head that it signed.', 12)),
          seen_at: t.usuallyNull(t.time('When it signed that.')),
          'trouble?': t.oneOf('Why it did not sign when it was asked last.', witnessTroubles),
        }),
        'Those of the configuration.',
      ),
    }),
    deposits: t.object('Whether deposits are seen.', {
      status: t.oneOf('How it goes.', words),
      'reason?': t.usuallyNull(t.text('Why not.', 'unreachable')),
      'block?': t.usuallyNull(t.count('The last block that was read.', 1_234_567)),
    }),
    features: t.anything('Which features are on.', { chat: true, embeddings: true }),
  },
)

export type StatusAnswer = t.Static<typeof statusShape>

export const aliveShape = t.answer('Alive', '', { status: t.only('ok') })
