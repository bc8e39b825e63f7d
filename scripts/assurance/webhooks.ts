import type { Group } from './row.ts'

const guard = 'test/outbox/address-guard.test.ts'
const tls = 'test/outbox/checked-tls.test.ts'
const deliver = 'test/outbox/deliver.test.ts'
const sender = 'test/outbox/sender.test.ts'
const many = 'test/outbox/together.test.ts'
const troubles = 'test/outbox/troubles.test.ts'
const token = 'test/operator/token.test.ts'
const leak = 'test/keys/leak.test.ts'

/** Events and webhooks, tokens of the operator, and reports of leaks. */
export const webhooks: Group = {
  title: 'Webhooks, operator tokens and leaks',
  rows: [
    {
      id: 'E17',
      severity: 'H',
      promise: 'An event exists exactly if its cause was committed.',
      tests: [
        ['test/simulation/simulation.test.ts', 'does what the model says after every command'],
        ['test/outbox/told.test.ts', 'A refused grant tells nothing.'],
        ['test/outbox/events.test.ts', 'A command writes its events with its change'],
        ['test/outbox/events.test.ts', 'A refused command leaves no event'],
      ],
      guards: [
        ['src/ledger/tell.ts', 'addEvent'],
        ['src/storage/outbox/store.ts', 'addEvents'],
      ],
    },
    {
      id: 'E18',
      severity: 'H',
      promise: 'Each event is delivered at least once, with one id, in the order of its subject.',
      tests: [
        [
          'test/binary/drill-events.test.ts',
          'Through kills of the sender each committed cause is told at least once',
        ],
        [deliver, 'A failed event is tried again with the same id'],
        [sender, 'A delivery that waits behind another is not sent before it'],
        [sender, 'A message whose outcome cannot be stored is not sent in a loop.'],
        [many, 'A message that a kept connection lost is sent again over a new one.'],
      ],
      guards: [
        ['src/front/webhooks/deliver.ts', 'deliverer'],
        ['src/front/webhooks/settling.ts', 'makeSettling'],
        ['src/front/webhooks/store/outcomes.ts', 'promote'],
      ],
    },
    {
      id: 'E19',
      severity: 'H',
      promise: 'Of several nodes one sends; what a node that slept says later undoes nothing.',
      tests: [
        [
          'test/outbox/two-nodes.test.ts',
          'sends each event once under load, and at least once where the one that sends stops.',
        ],
        [sender, 'The outcome of a node that slept does not undo what another stored meanwhile.'],
      ],
      guards: [
        ['src/storage/db/lease.ts', 'takeLease'],
        ['src/front/webhooks/store/outcomes.ts', 'outcomes'],
      ],
    },
    {
      id: 'E3',
      severity: 'C',
      promise: 'An address that users influence is resolved and checked before it is called.',
      tests: [
        [guard, 'not to %s'],
        [guard, 'is refused if any of its addresses is private'],
        [guard, 'is resolved once: what it answers a moment later changes nothing'],
        [guard, 'whose server redirects is not followed'],
        [tls, 'goes to the address that was checked, under the name of its URL'],
        [tls, 'does not follow a name that turns to a forbidden address'],
        [tls, 'sends nothing to a server whose certificate is of another name'],
      ],
      guards: [
        ['src/models/upstream/checked-post.ts', 'mayReach'],
        ['src/kernel/public-address.ts', 'isPublicAddress'],
      ],
    },
    {
      id: 'E10',
      severity: 'C',
      promise: 'A webhook is signed, and an empty secret does not start.',
      tests: [
        [deliver, 'A receiver in another process checks the signature with the public library'],
        ['test/outbox/python.test.ts', 'the Python receiver of docs/webhooks.md'],
        [
          'test/outbox/configured.test.ts',
          'is refused without a sound secret, for an address of this network',
        ],
        [many, 'Of two rotations at once each secret that was shown signs'],
      ],
      guards: [
        ['src/front/webhooks/sign.ts', 'signedHeaders'],
        ['src/config/webhook-entries.ts', 'isSecret'],
      ],
    },
    {
      id: 'E20',
      severity: 'H',
      promise: 'A dead or slow endpoint holds up no other, and holds a bounded number of events.',
      tests: [
        [deliver, 'A dead endpoint holds a bounded number of events and counts the rest'],
        [deliver, 'An endpoint that fails for three days is disabled; what waits for it ends.'],
        [many, 'They are read in pages, stored together, and use few connections'],
        [many, 'Of an endpoint that many ended for the newest are kept.'],
        [sender, 'Endpoints that take long do not hold up those of others.'],
        [sender, 'All webhooks of an account together have eight messages on their way.'],
        [sender, 'A webhook that is disabled during a try that fails is not tried again.'],
        [sender, 'Of thirty webhooks made at once as many stay as an account may have.'],
      ],
      guards: [
        ['src/front/webhooks/lanes.ts', 'ofAccountMost'],
        ['src/front/webhooks/store/prune.ts', 'pruning'],
        ['src/front/webhooks/webhook.ts', 'maxWaiting'],
        ['src/front/webhooks/store.ts', 'webhookRows'],
      ],
    },
    {
      id: 'E21',
      severity: 'H',
      promise: 'The operator hears of each trouble once, and again only after it was over.',
      tests: [
        ['test/outbox/operator-events.test.ts', 'A trouble is told when the first node sees it'],
        [troubles, 'An upstream that fails and answers again is told twice, each once'],
        [troubles, 'A model that costs more than it brings in is told once a day.'],
        [troubles, 'is told when a receipt waits twice as long as promised'],
        [troubles, 'What only a node saw that is gone is forgotten'],
        ['test/binary/told-operator.test.ts', 'A log that was set back is told to the webhook'],
      ],
      guards: [
        ['src/front/webhooks/operator-events.ts', 'operatorTeller'],
        ['src/front/webhooks/store/troubles.ts', 'troubleStore'],
      ],
    },
    {
      id: 'E22',
      severity: 'C',
      promise: 'An operator token does what its scopes name, until it ends, and each use is noted.',
      tests: [
        [token, 'A token works until it expires, is rotated or is revoked.'],
        [token, 'Its secret is stored as a hash alone, and in no audit entry.'],
        [token, 'The audit notes each token on each route, once a minute in a loop.'],
        [token, 'No route of it shows a secret, a prompt or an answer.'],
      ],
      guards: [
        ['src/access/operators/needs-operator.ts', 'assertMay'],
        ['src/access/operators/token.ts', 'worksBy'],
      ],
    },
    {
      id: 'E23',
      severity: 'C',
      promise:
        'A report of a leak pauses the key of that very secret and tells its sender nothing.',
      tests: [
        [leak, 'Every text is answered alike: status, body and headers.'],
        [leak, 'A live secret is paused, its owner told, and resumed after a rotation alone.'],
        [leak, 'The secret is stored and logged nowhere, whatever happens to the report.'],
        [leak, 'Reports are limited by network.'],
      ],
      guards: [
        ['src/access/keys/leak.ts', 'reportLeak'],
        ['src/access/keys/api/leaks.ts', 'answerMs'],
      ],
    },
  ],
}
