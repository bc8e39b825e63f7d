/** The notes of a release: its part of CHANGELOG.md, and what of it was built and run. */
import type { Platform } from '../build.ts'

/** What became of one platform. */
export type Outcome = { platform: Platform } & (
  | { built: true; bytes: number; ran: Ran }
  | { built: false; why: string }
)

/** Whether an executable was started here: how, and what it said of its curve, or why not. */
export type Ran = { how: string; curve: string } | { not: string }

/**
 * The part of a changelog for a version; that of `[Unreleased]` where the version has none yet.
 * @throws Error when it has neither
 */
export function cutChangelog(changelog: string, version: string): string {
  const parts = changelog.split(/^## /m).slice(1)
  const of = (name: string) => parts.find((part) => part.startsWith(`[${name}]`))
  const part = of('Unreleased')?.includes('\n- ') ? of('Unreleased') : of(version)
  if (part === undefined) throw new Error(`CHANGELOG.md has nothing about ${version}`)
  return part.slice(part.indexOf('\n') + 1).trim()
}

export type Facts = {
  version: string
  commit: string
  bun: string
  outcomes: readonly Outcome[]
  /** What else was made, a line each; and what could not be made, with the reason. */
  made: readonly string[]
  missing: readonly string[]
  isSigned: boolean
}

const unsigned = 'SHA256SUMS is not signed. `minisign -S -s <secret key> -m SHA256SUMS` signs it.'
const legend =
  '`run here` says whether the executable was started on the machine that made the release. The ' +
  'curve signs receipts: `native` is a C library, `portable` the same in JavaScript, three to ' +
  'five times slower.'

const listOf = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [title, lines.map((line) => `- ${line}`).join('\n')] : []

/** NOTES.md. */
export function notesOf(changelog: string, facts: Facts): string {
  const { version, commit, bun, outcomes, made, missing, isSigned } = facts
  const rows = outcomes.map((outcome) => `| ${outcome.platform} | ${cellsOf(outcome)} |`)
  return `${[
    `# Counterfoil ${version}`,
    `Commit ${commit}, Bun ${bun}. The same commit gives the same bytes; ` +
      'docs/install.md says how to check.',
    isSigned ? 'SHA256SUMS is signed: SHA256SUMS.minisig.' : unsigned,
    '## Platforms',
    ['| platform | executable | run here | curve |', '|---|---|---|---|', ...rows].join('\n'),
    legend,
    ...listOf('## Packages', made),
    ...listOf('## Not made', missing),
    '## Changes',
    cutChangelog(changelog, version),
  ].join('\n\n')}\n`
}

function cellsOf(outcome: Outcome): string {
  if (!outcome.built) return `not built: ${outcome.why} | no | `
  const { bytes, ran } = outcome
  const size = `${(bytes / 1e6).toFixed(0)} MB`
  return 'not' in ran ? `${size} | no: ${ran.not} | ` : `${size} | ${ran.how} | ${ran.curve}`
}
