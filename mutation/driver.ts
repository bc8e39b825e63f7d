/**
 * Runs in a copy, as `bun test ./mutation/driver.ts`: loads the tests of a job once,
 * learns which of them reach which mutant, and then switches on one mutant after the other.
 */

import { test } from 'bun:test'
import { appendFileSync, utimesSync } from 'node:fs'
import type { Job, Line, Reached } from './job.ts'
import { idsOf, runSuite } from './run-suite.ts'
import { loadSuite, type Suite } from './shim.ts'

const job: Job = await Bun.file(process.env['MUTATE_JOB'] ?? '').json()
const suites = new Map<string, Suite>()
/** Files of which a test fails where those before it did not run. */
const wholeOnly = new Set<string>()
const kills = new Map<string, number>()
/** Tests that failed with a mutant and passed without it, and the kills since one was looked at. */
const proven = new Set<string>()
let unproven: number[] = []
let reached: Reached = { tests: {}, load: [] }
let active = job.active ?? -1
/** By mutant: 1 where it was come by. A set would make the code of curves and hashes crawl. */
const marks = new Uint8Array(Object.keys(job.stems).length)

Object.assign(globalThis, {
  __mutant: (id: number) => {
    marks[id] = 1
    return id === active
  },
})

test('mutants', async () => {
  for (const file of job.tests) {
    suites.set(file, await loadSuite(job.root, file))
    if (job.active === undefined) continue
    const failure = await runSuite(suiteOf(file), () => true, job.limitMs)
    if (failure) return say({ id: job.active, state: failure.late ? 'late' : 'killed', by: file })
  }
  if (job.active !== undefined) return say({ id: job.active, state: 'survived' })
  if (await Bun.file(job.reached).exists()) reached = await Bun.file(job.reached).json()
  else await learn()
  for (const id of job.todo) {
    if (Date.now() > job.until) break
    say({ id, state: 'started' })
    // A machine that is busy is slow; only what keeps this process busy for ever stops this.
    const beat = setInterval(() => utimesSync(job.said, new Date(), new Date()), 5000)
    await tryOne(id)
    clearInterval(beat)
  }
  say({ id: -1, state: 'done' })
})

/** Runs every test once without a mutant. Those that fail here are not asked later. */
async function learn(): Promise<void> {
  reached.load = marked()
  for (const [file, suite] of suites) {
    const found: Reached['tests'] = {}
    const entryOf = (id: string) => {
      found[id] ??= { ms: 0, hits: [] }
      return found[id]
    }
    const failure = await runSuite(suite, () => true, 60_000, {
      begin: () => void marks.fill(0),
      endCase: (id, ms) => {
        const entry = entryOf(id)
        entry.ms = Math.round(ms)
        entry.hits.push(...marked())
      },
      endShared: (ids) => {
        for (const id of ids) entryOf(id).hits.push(...marked())
      },
    })
    if (!failure) Object.assign(reached.tests, found)
    const count = Object.keys(found).length
    say({
      id: -1,
      state: failure ? 'unfit' : 'learnt',
      by: file,
      note: `${count} ${failure?.error ?? ''}`,
    })
  }
  for (const entry of Object.values(reached.tests)) entry.hits = [...new Set(entry.hits)]
  await Bun.write(job.reached, JSON.stringify(reached))
}

async function tryOne(id: number): Promise<void> {
  const tests = Object.entries(reached.tests).filter(([, entry]) => entry.hits.includes(id))
  if (tests.length === 0) {
    return say({ id, state: reached.load.includes(id) ? 'loaded' : 'unreached' })
  }
  const stem = job.stems[id] ?? ''
  const rank = ([name, { ms }]: (typeof tests)[number]) =>
    (ms + 20) / (1 + (kills.get(name) ?? 0)) / (name.includes(`/${stem}.`) ? 8 : 1)
  tests.sort((a, b) => rank(a) - rank(b))
  marks[id] = 0
  const names: string[] = []
  let budget = job.budgetMs
  for (const [name, { ms }] of tests) {
    if (names.length > 2 && ms > budget) continue
    names.push(name)
    budget -= ms
  }
  for (const chosen of [names.slice(0, 3), names.slice(3)]) {
    for (const [file, here] of Map.groupBy(chosen, fileOf)) {
      if (await fails(id, file ?? '', new Set(here))) return
    }
  }
  // What tests came by once only, as they were loaded or because its result is remembered, is tried
  // from the start.
  const isMore = marks[id] !== 1 || reached.load.includes(id)
  say({ id, state: isMore ? 'loaded' : 'survived' })
}

/** Whether tests of a file fail with a mutant and pass without it. */
async function fails(id: number, file: string, names: ReadonlySet<string>): Promise<boolean> {
  const isSuspect = id === job.suspect
  const isWhole = isSuspect || wholeOnly.has(file)
  const chosen = (name: string) => isWhole || names.has(name)
  const suite = suiteOf(file)
  active = id
  const failure = await runSuite(suite, chosen, job.limitMs)
  active = -1
  if (!failure) return false
  const place = `${failure.id} of ${isWhole ? 'all' : [...names].join()}`
  const isKnown = proven.has(place) && unproven.length < 10 && !failure.late
  const isFine = isSuspect || isKnown
  const control = isFine ? undefined : await runSuite(suite, chosen, job.limitMs)
  if (!control) {
    // Late once may be the machine, which others keep busy.
    if (failure.late && !(await failsAgain(id, suite, chosen))) return false
    proven.add(place)
    if (isFine) unproven.push(id)
    else unproven = []
    kills.set(failure.id, 1 + (kills.get(failure.id) ?? 0))
    const state = failure.late ? 'late' : 'killed'
    say({ id, state, by: failure.id, note: String(failure.error).slice(0, 200) })
    return true
  }
  // What a mutant left behind breaks what is good, maybe for some time: a new process has to say.
  if (isWhole || failure.late || proven.has(place)) {
    for (const other of unproven) say({ id: other, state: 'again' })
    say({ id, state: 'suspect', by: failure.id, note: String(control.error).slice(0, 200) })
    process.exit(5)
  }
  wholeOnly.add(file)
  return fails(id, file, names)
}

async function failsAgain(id: number, suite: Suite, chosen: (name: string) => boolean) {
  active = id
  const failure = await runSuite(suite, chosen, job.limitMs)
  active = -1
  return failure !== undefined
}

const marked = (): number[] => [...marks.keys()].filter((id) => marks[id] === 1)

const fileOf = (id: string): string => id.slice(0, id.lastIndexOf('#'))

function suiteOf(file: string): Suite {
  const suite = suites.get(file)
  if (!suite || idsOf(suite).length === 0) throw new Error(`${file} declares no test`)
  return suite
}

const say = (line: Line): void => appendFileSync(job.said, `${JSON.stringify(line)}\n`)
