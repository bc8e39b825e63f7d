import type { Group } from './row.ts'

export const demo: Group = {
  title: 'The demonstration',
  rows: [
    {
      id: 'R1',
      severity: 'H',
      promise: 'No visitor of `serve --demo` sees things of another, also while it is reset.',
      tests: [
        ['test/demo/visitors.test.ts', 'no visitor sees a thing of another'],
        ['test/demo/visitors.test.ts', 'a reset under load of 20 visitors loses no page'],
        ['test/binary/drill-demo.test.ts', '20 visitors of the demonstration live through'],
      ],
      guards: [['src/app/demo/generation.ts', 'makeGeneration']],
    },
    {
      id: 'R2',
      severity: 'H',
      promise:
        'A reset of the demonstration deletes all data, ends open streams whole, and tells ' +
        'sessions and keys of before what became of them.',
      tests: [
        ['test/demo/visitors.test.ts', 'a reset under load of 20 visitors loses no page'],
        ['test/demo/visitors.test.ts', 'after a reset a page sends to the sign-in'],
        ['test/demo/visitors.test.ts', 'it resets by the clock, and a stop deletes everything'],
      ],
      guards: [
        ['src/app/demo/demo.ts', 'startDemo'],
        ['src/app/demo/generation.ts', 'generationOf'],
      ],
    },
    {
      id: 'R3',
      severity: 'H',
      promise:
        'What the public can do with the demonstration is bounded: visitors, requests, bytes, ' +
        'runs, keys, shares and passports; nothing goes to other servers.',
      tests: [
        ['test/demo/limits.test.ts', 'the limits of a demonstration'],
        ['test/demo/visitors.test.ts', 'no visitor has pages of an operator'],
      ],
      guards: [
        ['src/app/demo/limits.ts', 'limitedDemo'],
        ['src/app/demo/limits.ts', 'limitAccounts'],
      ],
    },
    {
      id: 'R4',
      severity: 'C',
      promise: '`serve --demo` refuses every setting of real use: data, chain, servers, admins.',
      tests: [
        ['test/demo/command.test.ts', 'serve --demo refuses each setting of real use by its name'],
      ],
      guards: [['src/cli/serve-demo.ts', 'misplaced']],
    },
  ],
}
