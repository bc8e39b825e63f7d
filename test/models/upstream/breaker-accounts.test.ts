import { describe, expect, test } from 'bun:test'
import { Breaker, type Pass, type Verdict } from '../../../src/models/upstream/breaker.ts'
import { recentAccounts } from '../../../src/models/upstream/breaker-accounts.ts'
import type { BreakerState } from '../../../src/models/upstream/upstream.ts'
import { promise } from '../../support/promise.ts'

/** A breaker of three failures and 30 s; a step is `take <request> <account>` and so on. */
function play(steps: string) {
  let now = 1000
  const told: string[] = []
  const times = { clock: { monotonic: () => now }, suspends: () => 0 }
  const guard = new Breaker({ failures: 3, cooldownMs: 30_000 }, times, (state) => told.push(state))
  const passes = new Map<string, Pass>()
  let last = ''
  for (const step of steps.split(', ')) {
    const [verb = '', name = '', account = ''] = step.split(' ')
    last = ''
    if (verb === 'wait') now += Number(name) * 1000
    else if (verb === 'take') {
      const pass: Pass = { account, probe: 'none', turn: undefined, suspends: 0 }
      if (guard.admit(pass)) passes.set(name, pass)
      else last = ` refused ${guard.retryAfterMs(account)}`
    } else {
      const pass = passes.get(name)
      if (pass && verb === 'began') guard.began(pass)
      else if (pass) guard.end(pass, verb as Verdict)
    }
  }
  return { last: guard.state + last, told }
}

const turns = 'take 1 A, failed 1, take 2 B, failed 2, take 3 A, failed 3, take 4 B, failed 4'
const three = 'take 1 A, failed 1, take 2 B, failed 2, take 3 C, failed 3'
type Course = [what: string, steps: string, last: string, told: BreakerState[]]

const closed: Course[] = [
  [
    'two accounts that fail in turn do not open it after an answer to a third',
    `take x X, answered x, ${turns}`,
    'closed',
    [],
  ],
  [
    'nor does the first of them when that answer came between their failures',
    'take 1 A, failed 1, take 2 B, failed 2, take x X, answered x, take 3 A, failed 3',
    'closed',
    [],
  ],
  [
    'they open it 30 s after the last answer to another account',
    `take x X, answered x, ${turns}, wait 30, take 5 A, failed 5`,
    'open',
    ['open'],
  ],
  ['they open it if no account was answered', turns, 'open', ['open']],
  [
    'they open it while another account only waits for its first answer',
    `take x X, ${turns}`,
    'open',
    ['open'],
  ],
  [
    'an account that fails after its answer no longer keeps it closed',
    'take x A, answered x, take 1 A, failed 1, take 2 A, failed 2, take 3 A, failed 3',
    'open',
    ['open'],
  ],
  [
    'the failures of most accounts open it in spite of an answer to another one',
    `take x X, answered x, take y Y, ${three}`,
    'open',
    ['open'],
  ],
  [
    'the failures of half of the accounts do not',
    `take x X, answered x, take y Y, answered y, take z Z, ${three}`,
    'closed',
    [],
  ],
  [
    'most accounts do not open it while they are fewer than the failures it takes',
    `take x X, answered x, ${turns}, take 5 A, failed 5, take 6 B, failed 6`,
    'closed',
    [],
  ],
]

const open: Course[] = [
  ['refuses the account that failed', 'wait 1, take 4 A', 'open refused 29000', []],
  ['closes by an answer to another account', 'take x X, answered x', 'closed', ['closed']],
  ['closes by the beginning of one', 'take x X, began x, take 4 A', 'closed', ['closed']],
  ['tries as many other accounts at once', 'take x X, take y Y, take z Z', 'open', []],
  ['and no more', 'take x X, take y Y, take z Z, take w W', 'open refused 1000', []],
  ['tries the next when one hung up', 'take x X, take y Y, take z Z, left y, take w W', 'open', []],
  ['refuses an account that fails too', 'take x X, failed x, take y X', 'open refused 30000', []],
  [
    'does not stay open for longer because of that',
    'wait 10, take x X, failed x, take 4 A',
    'open refused 20000',
    [],
  ],
  [
    'closes by an answer to another account while one that failed tries it',
    'wait 30, take 4 A, take x X, answered x',
    'closed',
    ['closed'],
  ],
  [
    'closes by an answer to a request from before it opened again',
    'take x X, wait 30, take 4 A, failed 4, answered x',
    'closed',
    ['open', 'closed'],
  ],
]

promise`E14`
describe('a breaker that several accounts share', () => {
  test.each(closed)('%s', (_, steps, last, told) => {
    expect(play(steps)).toEqual({ last, told })
  })
})

describe('a breaker that one account’s failures opened', () => {
  const opened = 'take 1 A, failed 1, take 2 A, failed 2, take 3 A, failed 3, '
  test.each(open)('%s', (_, steps, last, told) => {
    expect(play(opened + steps)).toEqual({ last, told: ['open', ...told] })
  })
})

describe('the accounts that asked lately', () => {
  promise`E14`
  test('are at most 4,096, those that asked last', () => {
    const recent = recentAccounts({ monotonic: () => 0 })
    for (let i = 0; i < 10_000; i++) recent.note(`${i}`, i < 9000 ? 'failed' : 'answered')
    expect(recent.counts()).toEqual({ asked: 0, answered: 1000, failed: 3096 })
    expect([recent.failing().length, recent.failing()[0]]).toEqual([3096, '5904'])
  })

  test('keep their last verdict while they ask again', () => {
    const recent = recentAccounts({ monotonic: () => 0 })
    recent.note('A', 'asked')
    expect(recent.counts()).toEqual({ asked: 1, answered: 0, failed: 0 })
    for (const verdict of ['failed', 'asked'] as const) recent.note('A', verdict)
    expect(recent.counts()).toEqual({ asked: 0, answered: 0, failed: 1 })
  })
})
