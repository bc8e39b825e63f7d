import { describe, expect, test } from 'bun:test'
import {
  Breaker,
  type Pass,
  type Verdict,
  verdictOf,
} from '../../../src/models/upstream/breaker.ts'
import type { BreakerState } from '../../../src/models/upstream/upstream.ts'
import { type FailureReason, UpstreamFailure } from '../../../src/models/upstream/upstream.ts'
import { promise } from '../../support/promise.ts'

/** A breaker of three failures and 30 s, and requests that have names. */
function breaker() {
  let now = 1000
  let suspends = 0
  const told: string[] = []
  const rules = { failures: 3, cooldownMs: 30_000 }
  const times = { clock: { monotonic: () => now }, suspends: () => suspends }
  const guard = new Breaker(rules, times, (state) => told.push(state))
  const passes = new Map<string, Pass>()
  const play = (step: string): string => {
    const [verb = '', name = '', account = 'one'] = step.split(' ')
    if (verb === 'wait') now += Number(name) * 1000
    else if (verb === 'sleep') suspends++
    else if (verb === 'take') {
      const pass: Pass = { account, probe: 'none', turn: undefined, suspends: 0 }
      if (!guard.admit(pass)) return `${guard.state} refused ${guard.retryAfterMs(account)}`
      passes.set(name, pass)
      return guard.state
    }
    const pass = passes.get(name)
    if (pass && verb === 'began') guard.began(pass)
    else if (pass) guard.end(pass, verb as Verdict)
    return guard.state
  }
  return { play, told }
}

/** Steps, and what the breaker is after the last of them. */
const courses: [what: string, steps: string, last: string, told: BreakerState[]][] = [
  ['two failures in a row are not enough', 'take a, failed a, take b, failed b', 'closed', []],
  ['a third opens it', 'take a, failed a, take b, failed b, take c, failed c', 'open', ['open']],
  [
    'an answer between them restarts the count',
    'take a, failed a, take b, failed b, take c, answered c, take d, failed d, take e, failed e',
    'closed',
    [],
  ],
  [
    'an answer that its client left counts as neither',
    'take a, failed a, take b, failed b, take c, left c, take d, failed d',
    'open',
    ['open'],
  ],
  [
    'the first of an answer forgives nothing',
    'take a, began a, failed a, take b, began b, failed b, take c, began c, failed c',
    'open',
    ['open'],
  ],
  [
    'of one account alone they do not, while another asks too',
    'take x two, take a, failed a, take b, failed b, take c, failed c, take d, failed d',
    'closed',
    [],
  ],
  [
    'one of another account then does',
    'take a, failed a, take b, failed b, take c, failed c, take d two, failed d',
    'open',
    ['open'],
  ],
  [
    'who asked long ago does not keep it closed',
    'take x two, take a, wait 30, failed a, take b, failed b, take c, failed c',
    'open',
    ['open'],
  ],
  [
    'an answer to another account forgives',
    'take a, failed a, take b, failed b, take x two, answered x, take c two, failed c',
    'closed',
    [],
  ],
  [
    'what fails because this side slept does not count',
    'take a, take b, take c, sleep, failed a, failed b, failed c',
    'closed',
    [],
  ],
  [
    'and forgives nothing',
    'take a, failed a, take b, failed b, take c, sleep, failed c, take d, failed d',
    'open',
    ['open'],
  ],
  [
    'nor what began before and fails after a second sleep',
    'take a, take b, take c, sleep, failed a, sleep, failed b, failed c',
    'closed',
    [],
  ],
  [
    'what slept does where one before that slept failed too, and nothing was answered',
    'take a, sleep, failed a, take b, sleep, failed b, take c, sleep, failed c, take d, sleep, failed d',
    'open',
    ['open'],
  ],
  [
    'not once something was answered',
    'take a, sleep, failed a, take b, take x, answered x, take c, take d, sleep, failed b, failed c, failed d',
    'closed',
    [],
  ],
  [
    'requests at once count as they end',
    'take a, take b, take c, take d, failed a, failed b, failed c',
    'open',
    ['open'],
  ],
]

/** What follows once it is open, with `x` a request from before. */
const opened = 'take x, take a, failed a, take b, failed b, take c, failed c, '
const after: typeof courses = [
  ['refuses', 'wait 10, take d', 'open refused 20000', []],
  ['refuses until the last moment', 'wait 29.999, take d', 'open refused 1', []],
  ['hears no late failure', 'wait 29, failed x, wait 1, take d', 'half_open', []],
  ['hears no late answer', 'wait 1, answered x, take d', 'open refused 29000', []],
  ['lets one through', 'wait 30, take d', 'half_open', []],
  ['and only one', 'wait 30, take d, take e', 'half_open refused 1000', []],
  ['closes by its answer', 'wait 30, take d, answered d', 'closed', ['closed']],
  ['lets all through then', 'wait 30, take d, answered d, take e, take f', 'closed', ['closed']],
  ['opens again by its failure', 'wait 30, take d, failed d', 'open', ['open']],
  [
    'for as long again',
    'wait 30, take d, failed d, wait 29, take e',
    'open refused 1000',
    ['open'],
  ],
  ['lets the next try after one that left', 'wait 30, take d, left d, take e', 'half_open', []],
  ['and after one that slept', 'wait 30, take d, sleep, failed d, take e', 'half_open', []],
  [
    'and hears the one that left no more',
    'wait 30, take d, left d, take e, answered d',
    'half_open',
    [],
  ],
  ['closes as soon as an answer begins', 'wait 30, take d, began d, take e', 'closed', ['closed']],
  [
    'opens again when that breaks off',
    'wait 30, take d, began d, failed d',
    'open',
    ['closed', 'open'],
  ],
  [
    'counts from nothing once that is whole',
    'wait 30, take d, began d, answered d, take e, failed e, take f, failed f',
    'closed',
    ['closed'],
  ],
  ['hears nothing late then', 'wait 30, take d, answered d, failed x', 'closed', ['closed']],
]

describe('a breaker', () => {
  test.each(courses)('%s', (_, steps, last, told) => {
    const it = breaker()
    expect(steps.split(', ').map(it.play).at(-1)).toBe(last)
    expect(it.told).toEqual(told)
  })
})

promise`E7`
describe('an open breaker', () => {
  test.each(after)('%s', (_, steps, last, told) => {
    const it = breaker()
    expect((opened + steps).split(', ').map(it.play).at(-1)).toBe(last)
    expect(it.told).toEqual(['open', ...told])
  })
})

describe('what a failure says of the server', () => {
  const cases: [FailureReason, number | undefined, string][] = [
    ['unreachable', undefined, 'failed'],
    ['timeout', undefined, 'failed'],
    ['cut', undefined, 'failed'],
    ['error', undefined, 'failed'],
    ['error', 500, 'failed'],
    ['error', 502, 'failed'],
    ['busy', 503, 'failed'],
    ['busy', 429, 'answered'],
    ['error', 401, 'answered'],
    ['error', 403, 'answered'],
    ['error', 307, 'answered'],
    ['rejected', 400, 'answered'],
    ['rejected', 404, 'answered'],
    ['too_large', undefined, 'answered'],
    ['busy', undefined, 'left'],
    ['share', undefined, 'left'],
    ['aborted', undefined, 'left'],
    ['too_long', undefined, 'left'],
  ]
  test.each(cases)('The failure %s %p counts as %s.', (reason, status, verdict) => {
    expect(verdictOf(new UpstreamFailure(reason, { status }))).toBe(verdict as 'failed')
  })
})
