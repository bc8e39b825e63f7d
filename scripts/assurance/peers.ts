import type { Group } from './row.ts'

export const peers: Group = {
  title: 'Clients and model servers as they are',
  rows: [
    {
      id: 'S1',
      severity: 'C',
      promise:
        'What a model server sends is made what its protocol says before anything counts ' +
        'it or passes it on; nothing delivered goes uncounted.',
      tests: [
        ['test/protocols/odd-streams.test.ts', 'odd streams that the reader takes'],
        ['test/protocols/repair-calls.test.ts', 'calls of tools'],
      ],
      guards: [
        ['src/models/protocols/responses/repair-events.ts', 'ResponseRepair'],
        ['src/models/protocols/messages/repair-events.ts', 'MessageRepair'],
      ],
    },
    {
      id: 'S2',
      severity: 'C',
      promise:
        'A request that goes on as it came is held for by at least the bytes of its text, ' +
        'known parts and unknown ones; what has no bound or no rate is refused by name.',
      tests: [
        [
          'test/protocols/native-bound.test.ts',
          'is bounded by at least the bytes of its text, known parts and unknown ones.',
        ],
        ['test/protocols/native-bound.test.ts', 'An image is bounded by its rule'],
        [
          'test/protocols/native-tools.test.ts',
          'Tools that the model server would run and bill are refused by name without a rate:',
        ],
      ],
      guards: [['src/models/protocols/native/read.ts', 'readNative']],
    },
    {
      id: 'S3',
      severity: 'C',
      promise:
        'A hold is for the classes that its request can use, and covers every report of them.',
      tests: [
        ['test/models/held-classes.test.ts', 'a hold is for the classes that its request can use'],
        ['test/models/held-classes.test.ts', 'No report of any class costs more than was held.'],
      ],
      guards: [['src/models/held-classes.ts', 'heldClasses']],
    },
    {
      id: 'S4',
      severity: 'C',
      promise:
        'A turn that is stopped or breaks costs at most 1.2 times what it costs finished, ' +
        'with what the server is known to have read from a cache.',
      tests: [
        [
          'test/runs/fair-ends.test.ts',
          'a stopped turn that is asked again and again costs as much each time',
        ],
        ['test/runs/fair-ends.test.ts', 'what is known of a cache'],
      ],
      guards: [['src/models/conversations.ts', 'Conversations']],
    },
    {
      id: 'S5',
      severity: 'C',
      promise:
        'A member that a model server refuses is learned by one more try before the first ' +
        'byte, with the same hold, or a raised one where the server takes no limit.',
      tests: [
        ['test/runs/dialects.test.ts', 'dialects of model servers on %s'],
        [
          'test/runs/dialects.test.ts',
          'A server that takes no limit is held for all that its model writes.',
        ],
        ['test/runs/dialects.test.ts', 'Caps stay exact while holds are raised at once.'],
        ['test/protocols/refused-member.test.ts', 'what a refusal teaches'],
      ],
      guards: [['src/models/protocols/refused-member.ts', 'factsIn']],
    },
    {
      id: 'S6',
      severity: 'C',
      promise:
        'What is kept of a response is sealed, found by its account alone, billed as if ' +
        'it had been sent, and gone when it is forbidden, erased or a day old.',
      tests: [
        ['test/kept/rules.test.ts', 'what is kept of a response on %s'],
        [
          'test/kept/rules.test.ts',
          'is the same 404 to another account as an unknown id, and nothing is held',
        ],
        ['test/kept/rules.test.ts', 'no word stands in the database in clear'],
        [
          'test/kept/clients.test.ts',
          'what is named is held for and billed as if it had been sent',
        ],
      ],
      guards: [['src/runs/turns/expand-items.ts', 'expandItems']],
    },
    {
      id: 'S7',
      severity: 'H',
      promise:
        'Reasoning that a server wants back survives every door, whole and streamed; that ' +
        'of another model does not go on.',
      tests: [
        ['test/doors/next-turn.test.ts', 'what a server wants back with the next turn'],
        ['test/protocols/next-turn.test.ts', 'does not go to another model, and that is named'],
        [
          'test/kept/clients.test.ts',
          'reasoning goes back without the status that clients give it and servers refuse',
        ],
      ],
      guards: [['src/models/protocols/envelope.ts', 'unseal']],
    },
    {
      id: 'S8',
      severity: 'C',
      promise:
        'A key in x-api-key is the key where the protocol defines it, and nowhere else; ' +
        'two different keys are refused, in words that clients show.',
      tests: [
        ['test/doors/api-key.test.ts', 'a key at the door of Messages'],
        [
          'test/doors/api-key.test.ts',
          'does not work as a key at the doors of other protocols, which say where it does',
        ],
      ],
      guards: [['src/access/keys/needs-key.ts', 'apiKeyHeader']],
    },
    {
      id: 'S9',
      severity: 'H',
      promise: 'A model server that is overloaded stays so on Messages, and is retried elsewhere.',
      tests: [['test/doors/overloaded.test.ts', 'a model server that says it is overloaded']],
      guards: [['src/runs/ending.ts', 'saysOverloaded']],
    },
    {
      id: 'S10',
      severity: 'H',
      promise:
        'Large bodies share one budget of memory, fair by account, and give it back with ' +
        'the first byte, a refusal or a break.',
      tests: [
        ['test/http/body-budget.test.ts', 'the budget of bodies'],
        ['test/http/body-budget.test.ts', 'large requests at a server'],
        [
          'test/http/slow-body.test.ts',
          'a large one has a second more for every 128 KiB that it announces',
        ],
      ],
      guards: [['src/web/http/body-budget.ts', 'BodyBudget']],
    },
    {
      id: 'S11',
      severity: 'H',
      promise: 'An answer that a client saved is checked against its receipt, of every door.',
      tests: [
        ['test/binary/saved-answers.test.ts', 'verify --answer, of answers as they were saved'],
      ],
      guards: [['src/runs/saved-answer.ts', 'readingsOf']],
    },
    {
      id: 'S12',
      severity: 'C',
      promise:
        'Unmodified clients are billed to the unit what the model server says that it ' +
        'used, over turns with tools, in streams and whole.',
      tests: [
        ['test/clients/ai-sdk-defaults.test.ts', 'ai 7.0.173 with %s'],
        ['test/clients/openai-bills.test.ts', 'openai 7.55.0 is billed what the model server says'],
        ['test/clients/clis.test.ts', '%s in the terminal'],
        [
          'test/runs/usage-details.test.ts',
          'names what is cached and what is reasoning wherever it has details, as clients want',
        ],
      ],
      guards: [['src/runs/openai.ts', 'toChatUsage']],
    },
  ],
}
