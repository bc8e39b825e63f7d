import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../src/kernel/refusal.ts'
import { messagesErrors } from '../../src/models/protocols/messages/write-error.ts'
import { type FailureReason, UpstreamFailure } from '../../src/models/upstream/upstream.ts'
import { decideUsage } from '../../src/models/usage.ts'
import { circuitOpenRefusal } from '../../src/runs/circuit.ts'
import type { StopReason } from '../../src/runs/live-run.ts'
import { refusalOf } from '../../src/runs/run-refusal.ts'
import { outcomeOf, statusOf } from '../../src/runs/settlement.ts'

describe('a run that broke off', () => {
  test.each([
    [undefined, false, 'failed', 'failed'],
    [undefined, true, 'partial', 'failed'],
    ['shutdown', false, 'interrupted', 'interrupted'],
    ['shutdown', true, 'partial', 'failed'],
    ['cancelled', false, 'cancelled', 'cancelled'],
    ['cancelled', true, 'cancelled', 'cancelled'],
    ['client_gone', true, 'cancelled', 'cancelled'],
    ['key_revoked', false, 'cancelled', 'cancelled'],
    ['overdue', false, 'failed', 'failed'],
    ['overdue', true, 'partial', 'failed'],
  ] as const)(
    'stopped by %p, with something delivered: %p, is %s',
    (stop, said, outcome, status) => {
      expect(outcomeOf(stop, said)).toBe(outcome)
      expect(statusOf(outcome)).toBe(status)
    },
  )

  test.each([
    ['key_revoked', 'key_revoked', undefined],
    ['account_suspended', 'account_suspended', undefined],
    ['session_ended', 'session_required', undefined],
    ['shutdown', 'unavailable', { 'retry-after': '1', 'retry-after-ms': '1000' }],
    ['overdue', 'upstream_timeout', undefined],
    ['cancelled', 'conflict', { 'x-should-retry': 'false' }],
    ['client_gone', 'conflict', { 'x-should-retry': 'false' }],
  ] as [StopReason, string, object | undefined][])(
    'by %s is refusal as %s',
    (stop, type, headers) => {
      const refusal = refusalOf(new UpstreamFailure('aborted'), stop, 'nothing')
      expect([refusal.type, refusal.detail.headers]).toEqual([type, headers] as never)
    },
  )

  test.each([
    ['timeout', 'upstream_timeout', 504],
    ['too_long', 'upstream_timeout', 504],
    ['open', 'unavailable', 503],
    ['share', 'concurrency_limited', 429],
    ['busy', 'unavailable', 503],
    ['rejected', 'invalid_request', 400],
    ['unreachable', 'upstream_error', 502],
    ['cut', 'upstream_error', 502],
  ] as [FailureReason, string, number][])(
    'of an upstream that is %s is refusal as %s',
    (reason, type, status) => {
      const refusal = refusalOf(new UpstreamFailure(reason), undefined, 'nothing')
      expect([refusal.type, refusal.status]).toEqual([type, status] as never)
      expect(refusal.message).not.toContain('delivered until then was charged')
    },
  )

  test.each([
    [0, '1', '1000'],
    [1000, '1', '1000'],
    [1000.2, '2', '1001'],
    [29_500, '30', '29500'],
  ])('An open circuit with %p ms left gives Retry-After %s s, %s ms.', (retryAfterMs, s, ms) => {
    const resting = new UpstreamFailure('open', { retryAfterMs })
    for (const refusal of [
      circuitOpenRefusal(retryAfterMs),
      refusalOf(resting, undefined, 'nothing'),
    ]) {
      expect(refusal.type).toBe('unavailable')
      expect(refusal.detail.headers).toEqual({ 'retry-after': s, 'retry-after-ms': ms })
    }
  })

  test('A stop says whether its run was charged, and a length which one is the most.', () => {
    const stopped = new UpstreamFailure('aborted')
    const words = (['nothing', 'input', 'output'] as const).map(
      (charge) => refusalOf(stopped, 'cancelled', charge).message,
    )
    expect(words.map((message) => message.includes('Nothing was charged'))).toEqual([
      ...[true, false, false],
    ])
    const long = refusalOf(
      new UpstreamFailure('context', { status: 400 }),
      undefined,
      'nothing',
      8192,
    )
    expect([long.type, long.message]).toEqual([
      'context_length_exceeded',
      expect.stringContaining('8192 tokens'),
    ])
    expect(refusalOf(new UpstreamFailure('context'), undefined, 'output').message).toContain(
      'delivered until then was charged',
    )
  })

  test('A broken answer says that the output delivered was charged.', () => {
    for (const reason of ['cut', 'timeout'] as const) {
      const refusal = refusalOf(new UpstreamFailure(reason), undefined, 'output')
      expect(refusal.message).toContain('delivered until then was charged')
    }
  })

  test('A model server that is overloaded is so on Messages, by its status or its name.', () => {
    const failures = [{ status: 529 }, { code: 'overloaded_error' }]
    for (const failure of failures.map((detail) => new UpstreamFailure('busy', detail))) {
      const refusal = refusalOf(failure, undefined, 'nothing')
      expect([refusal.type, messagesErrors.statusOf(refusal)]).toEqual(['unavailable', 529])
      const late = refusalOf(failure, undefined, 'output')
      expect(late.message).toContain('delivered until then was charged')
      expect(messagesErrors.toBody(late, 'req_1')).toMatchObject({
        error: { type: 'overloaded_error', details: { type: 'unavailable' } },
      })
    }
    const limited = refusalOf(new UpstreamFailure('busy', { status: 429 }), undefined, 'nothing')
    expect(messagesErrors.statusOf(limited)).toBe(503)
  })

  test('Our own refusals pass unchanged, and a bug shows only internal_error.', () => {
    const own = new Refusal('concurrency_limited')
    expect(refusalOf(own, undefined, 'nothing')).toBe(own)
    expect(refusalOf(new Error('secret'), undefined, 'nothing').type).toBe('internal_error')
  })
})

describe('what was written', () => {
  const claim = (outputBytes: number, completion_tokens?: number) =>
    decideUsage({
      bound: { n: 1, inputTokens: 10, inputBytes: 10, maxTokens: 20, outputTokens: 20 },
      prices: { inputPusd: 1n, outputPusd: 1n, requestNusd: 0n },
      reported: {
        prompt_tokens: 3,
        ...(completion_tokens === undefined ? {} : { completion_tokens }),
      },
      delivered: { inputBytes: 10, outputBytes, output: [] },
      counting: { bytesPerToken: 4 },
      embedded: false,
    })
  test.each([
    [0, 7, 7, 'reported'],
    [0, 0, 0, 'reported'],
    [0, undefined, 0, 'counted'],
    [12, 7, 7, 'reported'],
    [12, 0, 3, 'counted'],
    [13, undefined, 4, 'counted'],
  ] as const)('%p bytes, %p reported: %p tokens, %s', (bytes, reported, tokens, source) => {
    const { usage, source: by } = claim(bytes, reported)
    expect([usage.outputTokens, by]).toEqual([tokens, source])
  })
})
