import { explanationOf } from './explained.ts'
import type { Mutant } from './mutants.ts'
import type { Results } from './results.ts'

/** A group, its files and what was found there. */
export type Part = { name: string; files: readonly string[]; results: Results }

type Tally = { tried: number; noticed: number; explained: number; open: number; untried: number }

/** Writes how many mutants of each module were noticed, and names those that were not. */
export function reportOf(parts: readonly Part[], mutants: readonly Mutant[]): string {
  const byFile = Map.groupBy(mutants, ({ file }) => file)
  const of = (files: readonly string[]) => files.flatMap((file) => byFile.get(file) ?? [])
  const tallies = parts.map(({ files, results }) => tallyOf(of(files), results))
  return [
    intro(tallies.reduce(sum)),
    '## Groups\n',
    ...tableOf(parts.map(({ name }, at) => [name, tallies[at] ?? nothing])),
    ...openOf(parts.flatMap(({ files, results }) => unexplainedIn(of(files), results))),
    '',
  ].join('\n')
}

const nothing: Tally = { tried: 0, noticed: 0, explained: 0, open: 0, untried: 0 }

const sum = (a: Tally, b: Tally): Tally => ({
  tried: a.tried + b.tried,
  noticed: a.noticed + b.noticed,
  explained: a.explained + b.explained,
  open: a.open + b.open,
  untried: a.untried + b.untried,
})

const today = new Date().toISOString().slice(0, 10)

const intro = (all: Tally): string => `# Mutation

**Question.** Does a test fail when the code of money, keys, sign-in, log or verifier changes?

**Method.** [\`bun mutation/main.ts\`](../mutation/README.md) changes one expression at a time in a
copy of the checkout: it removes a guard, moves a comparison by one, turns plus into minus, drops
a statement. Then it runs the tests that reach it, on SQLite and in one process. A change counts
as noticed when a test fails or never ends.

**Result of ${today}.** ${all.tried} changes were tried and ${all.noticed} noticed:
${scoreOf(all)}. Of the others ${all.explained} are explained and ${all.open} are open;
${all.untried} were not tried. Explained changes lower the score too. Guards are tried first.
`

function tallyOf(mutants: readonly Mutant[], results: Results): Tally {
  const tally = { ...nothing }
  for (const mutant of mutants) {
    const state = results.of(mutant)?.state
    if (state === undefined) tally.untried += 1
    else tally.tried += 1
    if (state === 'killed' || state === 'late') tally.noticed += 1
    else if (state !== undefined && explanationOf(mutant)) tally.explained += 1
    else if (state !== undefined) tally.open += 1
  }
  return tally
}

const scoreOf = ({ tried, noticed }: Tally): string =>
  tried === 0 ? 'not measured' : `${((100 * noticed) / tried).toFixed(1)} %`

const tableOf = (rows: [name: string, tally: Tally][]): string[] => [
  '| | tried | noticed | explained | open | not tried | score |',
  '|---|---:|---:|---:|---:|---:|---:|',
  ...rows.map(([name, tally]) => {
    const { tried, noticed, explained, open, untried } = tally
    const cells = [name, tried, noticed, explained, open, untried, scoreOf(tally)]
    return `| ${cells.join(' | ')} |`
  }),
]

/** What survived, and may be noticed by a test that is missing. */
const unexplainedIn = (mutants: readonly Mutant[], results: Results): Mutant[] =>
  mutants.filter((mutant) => {
    const state = results.of(mutant)?.state
    return (state === 'survived' || state === 'unreached') && !explanationOf(mutant)
  })

/** One row a line of code. */
function openOf(mutants: readonly Mutant[]): string[] {
  const byLine = Map.groupBy(mutants, ({ file, line }) => `${file}:${line}`)
  const rows = [...byLine].map(([place, here]) => {
    const changes = [...new Set(here.map(({ change }) => change))].join('; ')
    return `| \`${place}\` ${codeOf(here[0]?.text ?? '')} | ${cell(changes)} |`
  })
  return rows.length === 0 ? [] : ['\n## Open\n', '| unnoticed | change |', '|---|---|', ...rows]
}

const codeOf = (text: string): string => `\`${cell(text).replaceAll('`', "'")}\``

const cell = (text: string): string => text.replaceAll('|', '\\|')
