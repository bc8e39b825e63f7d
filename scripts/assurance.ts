/**
 * `bun scripts/assurance.ts`: writes into reports/assurance.md which tests prove each promise. It
 * reads the tags that test/support/promise.ts explains.
 */
import { code } from '../test/support/source.ts'

/** The parts of the page, by the letter that the ids of their promises begin with. */
const parts = {
  A: 'Keys',
  B: 'Sign-in and sessions',
  P: 'Members',
  C: 'Pages',
  D: 'Money, runs and streams',
  O: 'Metering',
  E: 'Upstreams, webhooks and operator tokens',
  S: 'Clients and model servers as they are',
  T: 'Thieves, free accounts and forged files',
  F: 'Deposits',
  G: 'Receipts, proofs and anchors',
  H: 'The signer, witnesses and the log in the standard form',
  I: 'Explorer and exports',
  J: 'Clients without a key',
  K: 'Storage and process',
  N: 'Several servers',
  Q: 'Shards',
  M: 'Start and commands',
  R: 'The demonstration',
  L: 'Build and packages',
}

/** A promise, or a fault if its id is a number. */
type Row = { id: string; tests: Set<string> } & Partial<
  Record<'text' | 'severity' | 'missing' | 'expected' | 'drills', string>
>

const forms = {
  promise: /^(?<id>[A-Z]\d+)(?: (?<severity>[CH]): (?<text>.+?)(?: Missing: (?<missing>.+))?)?$/,
  fault: /^(?<id>\d+)(?:: (?<text>.+?) → (?<expected>.+?)(?: \[(?<drills>.+)\])?)?$/,
}

/** Reads the tags of all tests and drills. Throws an error that names every wrong one. */
export function readTags(files: Iterable<readonly [file: string, code: string]>): Row[] {
  const rows = new Map<string, Row>()
  const wrong: string[] = []
  for (const [file, code] of files) {
    const nightly = code.includes("support/nightly.ts'") ? ' ⟳' : ''
    for (const tag of code.matchAll(/^( *)(promise|fault)`([^`]*)`/gm)) {
      const [all, indent = '', kind, text = ''] = tag
      const words = text.replace(/\s+/g, ' ')
      const { id, ...told } = forms[kind as keyof typeof forms].exec(words)?.groups ?? {}
      if (id === undefined) {
        wrong.push(`${file}: “${words}” is not a tag`)
        continue
      }
      const row = rows.get(id) ?? { id, tests: new Set() }
      rows.set(id, row)
      if (told.text !== undefined) {
        if (row.text !== undefined) wrong.push(`${file}: ${id} has a text elsewhere, too`)
        Object.assign(row, told)
      }
      const title = titleBelow(code.slice(tag.index + all.length), indent)
      if (title !== undefined) row.tests.add(`\`${file}\`${nightly} “${cell(title)}”`)
      else if (kind === 'promise' || !file.startsWith('drills/'))
        wrong.push(`${file}: no test is below ${id}`)
    }
  }
  for (const { id, text } of rows.values()) {
    if (text === undefined) wrong.push(`${id} has no text`)
    if (/^\D/.test(id) && !(id.charAt(0) in parts)) wrong.push(`${id} belongs to no part`)
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  const numberOf = ({ id }: Row) => Number(id.replace(/\D/, ''))
  return [...rows.values()].sort((a, b) => numberOf(a) - numberOf(b))
}

/** The name of the test or group that comes next, be it behind a table of cases. */
function titleBelow(code: string, indent: string): string | undefined {
  const next = code.replace(/^(\s|\/\/.*|\/\*[\s\S]*?\*\/|(promise|fault)`[^`]*`)+/, '')
  const table = `.*(?:\\n(?:${indent} .*)?)*\\n${indent}[\\])]`
  const name = `\\(\\s*(['"\`])((?:\\\\.|(?!\\1).)+)\\1,`
  return new RegExp(`^(?:test|describe)\\b(?:${table})??.*?${name}`).exec(next)?.[2]
}

/** Makes the page of reports/assurance.md. */
export function assurancePage(rows: readonly Row[]): string {
  const faults = rows.filter(({ expected }) => expected !== undefined)
  const promises = rows.filter(({ severity }) => severity !== undefined)
  const open = promises.filter(({ missing }) => missing !== undefined)
  const count = (weight: string) => promises.filter(({ severity }) => severity === weight).length
  const section = ([letter, title]: [string, string]) => `## ${title}

| | promise | | tests |
|---|---|---|---|
${promises.flatMap((row) => (row.id.startsWith(letter) ? promiseLine(row) : [])).join('\n')}
`
  return `# Assurance

What the service promises about security and reliability, and the tests that prove it. C: money, an
account or a secret is lost without it. H: something else of weight. A test goes by its name or by
that of its group. Every test runs in CI; ⟳ marks files with more rounds, seeds or inputs in
the nightly tier, \`bun run test:all\`. How many small changes of the code the tests notice:
[mutation](mutation.md).

${promises.length} promises, ${count('C')} C and ${count('H')} H: ${promises.length - open.length}
are tested, ${open.length} have something untested.

This page is made by \`bun scripts/assurance.ts\` from the tags of the tests.

${Object.entries(parts).map(section).join('\n')}
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

function promiseLine({ id, severity, text = '', missing, tests }: Row): string {
  const lines = missing === undefined ? [...tests] : [...tests, `Missing: ${cell(missing)}`]
  return `| ${id} | ${cell(text)} | ${severity} | ${lines.join('<br>')} |`
}

function faultLine({ id, text = '', expected = '', drills, tests }: Row): string {
  const commands = drills?.split(', ').map((drill) => drill.replace(/ (.+)/, ' --only "$1"')) ?? []
  const seen = [...tests, ...commands.map((command) => `\`bun run drill ${command}\``)]
  return `| ${id} | ${cell(text)} | ${cell(expected)} | ${seen.join('<br>')} |`
}

const openLine = ({ id, severity, text, missing }: Row): string =>
  `- **${id}** (${severity}) ${text} Missing: ${missing}`

/** Text that stays text in a cell of a table. */
const cell = (text: string): string => text.replace(/[|*_<[\]\\`]/g, '\\$&')

if (import.meta.main) await Bun.write('reports/assurance.md', assurancePage(readTags(code)))
