import { rmSync } from 'node:fs'
import { Glob } from 'bun'
import { makeCopy, plant } from './copy.ts'
import type { Job, Line, Reached } from './job.ts'
import { mutantsOf } from './mutants.ts'
import type { Result, Results } from './results.ts'
import type { Numbered } from './schema.ts'

export type Task = {
  checkout: string
  /** Source files to mutate, and the tests to ask. */
  files: readonly string[]
  tests: RegExp
  /** Together, the tests of one mutant should not take longer. */
  budgetMs: number
  /** The time to stop, even if mutants are left. */
  until: number
  /** Whether a mutant is to be tried. */
  wanted(mutant: Numbered): boolean
}

const silenceMs = 60_000
/** Until the first mutant is on: all tests run once, on a machine that may be busy. */
const learningMs = 300_000
const late = { state: 'late' as const, by: 'the process' }
/** No mutant has this number. */
const noMutant = -2
/** Mutants of one process: what was found is written down when it ends. */
const atOnce = 150

/** Tries the mutants of some files in a copy, one process for as many as it survives. */
export async function tryMutants(task: Task, results: Results): Promise<void> {
  const copy = await makeCopy(task.checkout)
  try {
    const found = await mutantsOf(copy.root, task.files)
    const mutants = found.map((mutant, id) => ({ ...mutant, id }))
    await plant(copy.root, mutants)
    const tests = [...new Glob('test/**/*.test.{ts,tsx}').scanSync(copy.root)].sort()
    const base: Job = {
      root: copy.root,
      tests: tests.filter((test) => task.tests.test(test)),
      todo: [],
      stems: Object.fromEntries(mutants.map(({ id, file }) => [id, stemOf(file)])),
      reached: `${copy.root}/reached.json`,
      said: `${copy.root}/said.jsonl`,
      limitMs: 10_000,
      budgetMs: task.budgetMs,
      until: task.until,
    }
    const wanted = mutants.filter(task.wanted).sort((a, b) => weightOf(b) - weightOf(a))
    const dynamic = wanted.filter(({ isStatic }) => !isStatic)
    const unreached = await tryDynamic(base, dynamic, results)
    await tryStatic(
      base,
      mutants,
      [...wanted.filter(({ isStatic }) => isStatic), ...unreached],
      results,
    )
  } finally {
    copy.remove()
  }
}

const stemOf = (file: string): string => file.replace(/^.*\/|\.tsx?$/g, '')

/** What takes a guard away comes first, if there is not time for all. */
const weightOf = ({ change }: Numbered): number =>
  /^(the condition is false|the statement|nothing|without)|[<>]|&&/.test(change) ? 1 : 0

/** Returns those that only the loading of their module comes by. */
async function tryDynamic(
  base: Job,
  wanted: readonly Numbered[],
  results: Results,
): Promise<Numbered[]> {
  const left = new Map(wanted.map((mutant) => [mutant.id, mutant]))
  const loaded = new Set<number>()
  /** Those at which a process ended once: that may have been the machine's doing. */
  const endings = new Set<number>()
  let suspect: number | undefined
  for (let round = 0; left.size > 0 || round === 0; round += 1) {
    if (round > 0 && Date.now() > base.until) break
    const order = [...(suspect === undefined ? [] : [suspect]), ...left.keys()]
    const todo = [...new Set(order)].slice(0, atOnce)
    const lines = await drive({ ...base, todo, ...(suspect === undefined ? {} : { suspect }) })
    suspect = undefined
    let pending: number | undefined
    const again: number[] = []
    for (const { id, state, by, note } of lines) {
      if (state === 'unfit') console.log(`not asked: ${by}: ${note}`)
      if (state === 'started') pending = id
      if (state === 'suspect') suspect = id
      if (state === 'again') again.push(id)
      if (state === 'loaded') {
        loaded.add(id)
        left.delete(id)
        pending = undefined
      }
      if (id < 0 || !isResult(state)) continue
      await tell(left.get(id), { state, ...(by ? { by } : {}) }, results)
      left.delete(id)
      if (id === pending) pending = undefined
    }
    for (const mutant of wanted) if (again.includes(mutant.id)) left.set(mutant.id, mutant)
    if (lines.some(({ state }) => state === 'done')) continue
    if (suspect !== undefined || pending === undefined) continue
    // It took the process along, or kept it busy for ever, if it does so again.
    if (!endings.has(pending)) {
      endings.add(pending)
      continue
    }
    await tell(left.get(pending), { state: 'late', by: 'the process' }, results)
    left.delete(pending)
  }
  return wanted.filter(({ id }) => loaded.has(id))
}

/** What runs when a module is loaded is on from the start of a process of its own. */
async function tryStatic(
  base: Job,
  all: readonly Numbered[],
  wanted: readonly Numbered[],
  results: Results,
): Promise<void> {
  const reached: Reached = await Bun.file(base.reached).json()
  for (const mutant of wanted) {
    if (Date.now() > base.until) return
    const ids = new Set(beside(mutant, all).map(({ id }) => id))
    const byFile = new Map<string, { ms: number; hits: number }>()
    for (const [name, { ms, hits }] of Object.entries(reached.tests)) {
      const file = name.slice(0, name.lastIndexOf('#'))
      const known = byFile.get(file) ?? { ms: 300, hits: 0 }
      const here = hits.filter((id) => ids.has(id)).length
      byFile.set(file, { ms: known.ms + ms, hits: known.hits + here })
    }
    const stem = stemOf(mutant.file).replace(/-.*$/, '')
    const isNear = (file: string) => file.split('/').at(-1)?.startsWith(stem)
    const ranked = [...byFile].filter(([file, { hits }]) => hits > 0 || isNear(file))
    const rank = ([file, { ms, hits }]: (typeof ranked)[number]) =>
      (hits / ms) * (isNear(file) ? 8 : 1)
    ranked.sort((a, b) => rank(b) - rank(a))
    const near = ranked.slice(0, base.budgetMs > 10_000 ? 8 : 5).map(([file]) => file)
    const tried = async (active: number) =>
      (await drive({ ...base, tests: near, active })).at(-1) ?? late
    const last = await tried(mutant.id)
    // A busy machine is late without it too, and proves nothing.
    if (last.state === 'late' && (await tried(noMutant)).state !== 'survived') continue
    const state = near.length > 0 && isResult(last.state) ? last.state : 'unreached'
    await tell(mutant, { state, ...(last.by ? { by: last.by } : {}) }, results)
  }
}

/** The mutants on lines that use what is made there, or those of the whole file. */
function beside({ file, text }: Numbered, all: readonly Numbered[]): Numbered[] {
  const [, name] = /^(?:export )?const (\w+)/.exec(text) ?? []
  const word = new RegExp(`\\b${name}\\b`)
  const users = name ? all.filter((one) => !one.isStatic && word.test(one.text)) : []
  return users.length > 0 ? users : all.filter((one) => one.file === file)
}

const isResult = (state: Line['state']): state is Result['state'] =>
  state === 'killed' || state === 'late' || state === 'survived' || state === 'unreached'

async function tell(mutant: Numbered | undefined, result: Result, results: Results): Promise<void> {
  if (!mutant) return
  // Fewer tests may not come by what others did.
  if (result.state === 'unreached' && results.of(mutant)) return
  await results.set(mutant, result)
  const { file, line, change, text } = mutant
  console.log(`${result.state.padEnd(9)} ${file}:${line} ${change} | ${text} | ${result.by ?? ''}`)
}

/** Runs a driver until it ends or says nothing for too long, and returns what it said. */
async function drive(job: Job): Promise<Line[]> {
  const path = `${job.root}/job.json`
  await Bun.write(path, JSON.stringify(job))
  await Bun.write(job.said, '')
  // All tests are one there, so that what one process wrote of them is none of the next one's.
  rmSync(`${job.root}/mutation/__snapshots__`, { recursive: true, force: true })
  const command = ['test', '--timeout', '100000000', './mutation/driver.ts']
  const child = Bun.spawn(['nice', '-n', '10', process.execPath, ...command], {
    cwd: job.root,
    env: {
      ...process.env,
      MUTATE_JOB: path,
      TEST_ENGINES: 'sqlite',
      TEST_DATABASE_URL: '',
      TMPDIR: `${job.root}/tmp`,
      NO_COLOR: '1',
    },
    stdin: 'ignore',
    stdout: Bun.file(`${job.root}/driver.out`),
    stderr: Bun.file(`${job.root}/driver.err`),
  })
  let isOver = false
  const ended = child.exited.then(() => {
    isOver = true
  })
  let limitMs = job.active === undefined ? learningMs : silenceMs
  while (!isOver) {
    await Promise.race([ended, Bun.sleep(1000)])
    const said = Bun.file(job.said)
    if (limitMs !== silenceMs && (await said.text()).includes('"started"')) limitMs = silenceMs
    if (Date.now() - said.lastModified > limitMs) child.kill('SIGKILL')
  }
  rmSync(`${job.root}/tmp`, { recursive: true, force: true })
  await Bun.$`mkdir -p ${job.root}/tmp`
  const said = await Bun.file(job.said).text()
  const lines = said.split('\n').filter(Boolean)
  if (lines.length === 0 && job.active === undefined) {
    throw new Error(await Bun.file(`${job.root}/driver.err`).text())
  }
  return lines.map((line) => JSON.parse(line))
}
