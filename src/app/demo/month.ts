/** A month of use, made through the real program while its clock is moved. */

import { type Dice, diceOf } from './dice.ts'
import { type Cast, type Step, stepsOf } from './lives.ts'
import { ask, type RunRecord } from './one-run.ts'
import type { Call, OwnKey, People, Person } from './people.ts'

const dayMs = 86_400_000

/** A service whose time stands still unless it is moved. */
export type Past = {
  now(): number
  advance(ms: number): void
  /** Does what the jobs of a server do in a while. */
  tend(): Promise<void>
}

export type Month = Cast & {
  call: Call
  past: Past
  runs: number
  days: number
  /** When the month ends, in ms since the epoch. */
  end: number
  signal?: AbortSignal | undefined
  /** Waits between two runs, where others need the processor. */
  breathe?: (() => Promise<void>) | undefined
}

/** Makes all runs of the month. Returns how many answers had each HTTP status. */
export async function makeMonth(month: Month): Promise<Map<number, number>> {
  const { past, days, end, runs } = month
  const dice = diceOf('month')
  const start = end - days * dayMs
  const counts = new Map<number, number>()
  const steps = stepsOf(month)
  const later: (() => Promise<unknown>)[] = []
  const take = async (until: number): Promise<void> => {
    while (steps[0] && steps[0].at <= until) {
      const done = await (steps.shift() as Step).act()
      await past.tend()
      // A step may return work to do after the jobs ran.
      if (typeof done === 'function') later.push(done as () => Promise<unknown>)
      for (const act of later.splice(0)) await act()
    }
  }
  await take(0.03)
  let last = 0
  for (const at of timesOf(dice, runs, days)) {
    month.signal?.throwIfAborted()
    await month.breathe?.()
    const time = Math.max(past.now(), start + at)
    const share = at / (days * dayMs)
    await take(share)
    past.advance(Math.max(0, time - past.now()))
    const { person, key } = callerOf(dice, month.people)
    const ran = await askWith(month.call, { person, key }, dice)
    counts.set(ran.status, (counts.get(ran.status) ?? 0) + 1)
    if (ran.receipt) await maybeShare(dice, month.call, { person, key, receipt: ran.receipt })
    if (Math.floor(at / (dayMs / 4)) > last) {
      last = Math.floor(at / (dayMs / 4))
      await past.tend()
    }
  }
  await take(1)
  await past.tend()
  return counts
}

/** Times of runs, in ms from the start: growing, most of them by day and few at weekends. */
function timesOf(dice: Dice, runs: number, days: number): number[] {
  const times: number[] = []
  while (times.length < runs) {
    const day = dice.between(0, days)
    const hour = dice.between(0, 24)
    const isOpen = hour > 6 && hour < 19
    const weight = (0.4 + (0.6 * day) / days) * (isOpen ? 1 : 0.15) * (day % 7 > 4 ? 0.35 : 1)
    if (dice.chance(weight)) times.push(day * dayMs + hour * 3_600_000 + dice.between(0, 3_600_000))
  }
  return times.sort((a, b) => a - b)
}

/** Draws who runs something, and with which key: the first person most often. */
export function callerOf(dice: Dice, people: People) {
  const person = people[Math.min(dice.between(0, 3), dice.between(0, 4))] ?? people[0]
  const key = person.keys[dice.between(0, person.keys.length)] as OwnKey
  return { person, key }
}

/** Runs something; a key that is paused, revoked or expired is not asked with again. */
export async function askWith(call: Call, { person, key }: Caller, dice: Dice): Promise<RunRecord> {
  const ran = await ask(call, key, dice)
  if (ran.status === 403) person.keys = person.keys.filter((other) => other !== key)
  return ran
}

type Caller = { person: Person; key: OwnKey }

type SharedReceipt = Caller & { receipt: string }

/** Shows every seventh receipt to others, now and then with its texts. */
export async function maybeShare(dice: Dice, call: Call, shared: SharedReceipt): Promise<void> {
  const { person, key, receipt } = shared
  if (!dice.chance(0.15)) return
  const may = person.keys.find(({ name }) => ['production', 'importer', 'notebook'].includes(name))
  if (!may) return
  const visibility = dice.chance(0.8) ? 'public' : 'unlisted'
  const reveal = person.name === 'Ada' && dice.chance(0.4) ? ['input', 'output'] : []
  const json = { visibility, reveal }
  for (const { secret } of [key, may]) {
    const answer = await call(`/v1/receipts/${receipt}/share`, { key: secret, json })
    await answer.text()
    if (answer.ok) return
  }
}
