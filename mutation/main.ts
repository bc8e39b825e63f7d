/**
 * `bun mutation/main.ts [group…]`: changes the code of money, keys, sign-in, log and verify a
 * little, thousands of times, in a copy of the checkout, and sees whether a test fails. Results
 * stay in node_modules/.cache/mutation; a mutant that a test caught is not tried again.
 *
 * `--wide` asks more and slower tests, `--tests=keys/issue` those whose path begins like that,
 * `--again` tries only what survived, `--all` everything, `--minutes=n` for so long;
 * `--report` writes reports/mutation.md of what was found so far.
 */
import { existsSync } from 'node:fs'
import { Glob } from 'bun'
import { explanationOf, staleRows } from './explained.ts'
import { groups } from './groups.ts'
import { mutantsOf } from './mutants.ts'
import { reportOf } from './report.ts'
import { openResults } from './results.ts'
import { tryMutants } from './work.ts'

const checkout = process.cwd()
const state = `${checkout}/node_modules/.cache/mutation`
const words = process.argv.slice(2)
const flags = new Set(words.filter((word) => word.startsWith('--')))
const names = words.filter((word) => !word.startsWith('--'))

const textOf = (flag: string) => words.find((word) => word.startsWith(flag))?.slice(flag.length)
const minutes = Number(textOf('--minutes=') ?? 1e6)
const tests = textOf('--tests=')

const filesOf = (places: readonly string[]): string[] =>
  places.flatMap((place) => {
    if (!place.endsWith('.ts')) return [...new Glob(`${place}/*.ts`).scanSync(checkout)].sort()
    if (existsSync(`${checkout}/${place}`)) return place
    console.error(`left out: ${place} of groups.ts does not exist`)
    return []
  })

if (flags.has('--report')) await report()
else {
  for (const row of await staleRows(checkout)) console.error(`not found any more: ${row}`)
  for (const name of names.length > 0 ? names : Object.keys(groups)) await tryGroup(name)
}

/** Tries what was never tried, and what survived again. */
async function tryGroup(name: string): Promise<void> {
  const group = groups[name]
  if (!group) throw new Error(`there is no group ${name}: ${Object.keys(groups).join(', ')}`)
  const results = await openResults(checkout, `${state}/${name}.json`)
  const isWide = flags.has('--wide')
  const task = {
    checkout,
    files: filesOf(group.places),
    tests: tests ? new RegExp(`^test/(${tests})`) : isWide ? group.wide : group.near,
    budgetMs: isWide ? 30_000 : 6000,
    until: Date.now() + minutes * 60_000,
    wanted: (mutant: Parameters<typeof explanationOf>[0]) => {
      const known = results.of(mutant)?.state
      if (flags.has('--all')) return true
      if (known === undefined) return !flags.has('--again')
      return (known === 'survived' || known === 'unreached') && !explanationOf(mutant)
    },
  }
  await tryMutants(task, results)
}

async function report(): Promise<void> {
  const parts = await Promise.all(
    Object.entries(groups).map(async ([name, { places }]) => {
      const files = filesOf(places)
      const results = await openResults(checkout, `${state}/${name}.json`)
      return { name, files, results }
    }),
  )
  const mutants = await mutantsOf(
    checkout,
    parts.flatMap(({ files }) => files),
  )
  await Bun.write('reports/mutation.md', reportOf(parts, mutants))
}
