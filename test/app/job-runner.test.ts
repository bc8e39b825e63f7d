import { expect, test } from 'bun:test'
import { type Job, startJobs } from '../../src/app/job-runner.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { promise } from '../support/promise.ts'

/** Runs jobs until `enough`, and tells which failures were logged. */
async function runUntil(jobs: Job[], enough: Promise<void>): Promise<unknown[]> {
  const told: unknown[] = []
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (event: string, error: unknown, fields: unknown) =>
      void told.push([event, error, fields]),
  }
  const running = startJobs(jobs, { log, clock: systemClock })
  await enough
  await running.stop()
  return told
}

promise`K15 H: An error in a job is logged and stops neither the server nor the next turn.`
test('a job that throws is logged, and every job runs again', async () => {
  const enough = Promise.withResolvers<void>()
  const turns = { broken: 0, sound: 0 }
  const fault = new Error('a fault')
  const count = (name: keyof typeof turns) => {
    turns[name]++
    if (turns.broken >= 3 && turns.sound >= 3) enough.resolve()
  }
  const broken = async () => {
    count('broken')
    throw fault
  }
  const jobs = [
    { name: 'broken', everyMs: 2, atStart: true, tick: broken },
    { name: 'sound', everyMs: 2, tick: async () => count('sound') },
  ]
  const told = await runUntil(jobs, enough.promise)
  expect(told.length).toBeGreaterThanOrEqual(2)
  expect(told[0]).toEqual(['job.failed', fault, { job: 'broken' }])
})

promise`K15`
test('one that takes long is never run twice at once', async () => {
  const enough = Promise.withResolvers<void>()
  let [atOnce, most, turns] = [0, 0, 0]
  const tick = async () => {
    most = Math.max(most, ++atOnce)
    await Bun.sleep(20)
    atOnce--
    if (++turns === 3) enough.resolve()
  }
  await runUntil([{ name: 'long', everyMs: 1, tick }], enough.promise)
  expect(most).toBe(1)
})

test('A long job hears that the server stops, and its error after that is not reported.', async () => {
  const begun = Promise.withResolvers<void>()
  const tick = (ending: AbortSignal) => {
    begun.resolve()
    return new Promise((_, failed) => ending.addEventListener('abort', () => failed(new Error())))
  }
  expect(
    await runUntil([{ name: 'long', everyMs: 1, atStart: true, tick }], begun.promise),
  ).toEqual([])
})
