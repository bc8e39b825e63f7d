import { readFileSync } from 'node:fs'
import { faults } from './faults.ts'
import { groups } from './groups.ts'
import type { Fault, Group, Place, Row } from './row.ts'

/** The page of reports/assurance.md. */
export function assurancePage(): string {
  const all = groups.flatMap(({ rows }) => rows)
  const kept = all.filter((row) => !('absent' in row))
  const open = all.filter((row) => missingOf(row) !== undefined)
  const tested = kept.filter((row) => missingOf(row) === undefined)
  const count = (severity: Row['severity']) => all.filter((row) => row.severity === severity).length
  return `# Assurance

What the service promises about security and reliability, the tests that prove it, and the code
that keeps it. C: money, an account or a secret is lost without it. H: something else of weight.
A test is named by how its name, or that of its group, begins in its file. Every test runs in CI;
⟳ marks files that also run more rounds, seeds or inputs in the nightly tier, \`bun run test:all\`.
How many small changes of the code the tests notice: [mutation](mutation.md).

${all.length} promises, ${count('C')} C and ${count('H')} H: ${tested.length} are tested,
${open.length} have something untested, ${all.length - kept.length} do not apply.

This page is made by \`bun scripts/assurance.ts\` of the rows in \`scripts/assurance/\`.

${groups.map(sectionOf).join('\n')}
## Faults

What breaks around the service or in the middle of it. What the drills last saw is in
[drills](drills.md).

| | fault | expected | seen by |
|---|---|---|---|
${faults.map(faultLine).join('\n')}

## What is not tested yet

${open.map(openLine).join('\n')}
`
}

const sectionOf = ({ title, rows }: Group): string => `## ${title}

| | promise | | tests | kept by |
|---|---|---|---|---|
${rows.map(lineOf).join('\n')}
`

function lineOf(row: Row): string {
  const { id, severity } = row
  const promise = cell(row.promise)
  if ('absent' in row) return `| ${id} | ${promise} | ${severity} | – ${cell(row.absent)} | – |`
  const missing = row.missing === undefined ? [] : [`Missing: ${cell(row.missing)}`]
  const tests = [...row.tests.map(testText), ...missing]
  const guards = row.guards.map(guardText)
  return `| ${id} | ${promise} | ${severity} | ${tests.join('<br>')} | ${guards.join('<br>')} |`
}

function faultLine({ fault, expected, tests = [], drills = [] }: Fault, index: number): string {
  const seen = [...tests.map(testText), ...drills.map(drillText)]
  return `| ${index + 1} | ${cell(fault)} | ${cell(expected)} | ${seen.join('<br>')} |`
}

function drillText(words: string): string {
  const [name, ...only] = words.split(' ')
  const rest = only.length === 0 ? '' : ` --only "${only.join(' ')}"`
  return `\`bun run drill ${name}${rest}\``
}

const testText = ([file, name]: Place): string =>
  `\`${file}\`${repeatsNightly(file) ? ' ⟳' : ''} “${cell(name)}”`
const repeatsNightly = (file: string): boolean =>
  readFileSync(file, 'utf8').includes("support/nightly.ts'")
const guardText = ([file, name]: Place): string => `\`${name}\` of \`${file}\``

const openLine = (row: Row): string =>
  `- **${row.id}** (${row.severity}) ${row.promise} Missing: ${missingOf(row)}`

const missingOf = (row: Row): string | undefined => ('absent' in row ? undefined : row.missing)

/** Text that stays text in a cell of a table. */
const cell = (text: string): string => text.replace(/[|*_<[\]\\`]/g, '\\$&')
