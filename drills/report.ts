import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/**
 * Writes sections into the report of all drills: those with the same heading are replaced, the
 * others stay as they were last found. A section begins with `## `.
 */
export function report(file: string, sections: string): void {
  const [head = '', ...known] = split(existsSync(file) ? readFileSync(file, 'utf8') : heading)
  const fresh = split(`\n${sections}`).slice(1)
  const kept = known.map(
    (section) => fresh.find((one) => titleOf(one) === titleOf(section)) ?? section,
  )
  const added = fresh.filter((one) => !known.some((old) => titleOf(old) === titleOf(one)))
  const text = [head, ...kept, ...added].map((section) => section.trim()).join('\n\n')
  writeFileSync(file, `${text}\n`)
}

/** The beginning of a section: its title, how to make it again, its day and its build. */
export const headOf = (title: string, command: string, build: string): string => {
  const day = new Date().toISOString().slice(0, 10)
  return `## ${title}\n\n\`bun run drill ${command}\`, ${day}, build \`${build.trim()}\`.`
}

/** A row of a table; text may hold anything. */
export function rowOf(...cells: (string | number)[]): string {
  const words = cells.map((cell) => String(cell).replaceAll('|', '\\|').replaceAll('\n', ' '))
  return `| ${words.join(' | ')} |`
}

/** How many faults there were, and each of them. */
export const faultList = (faults: readonly string[]): string =>
  `**${faults.length} faults.**${faults.map((fault) => `\n- ${fault}`).join('')}`

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const heading = `# Drills

**Question.** What happens to money, receipts and clients when processes, disks, clocks and
databases fail?

**Method.** \`bun run drill <name>\` starts the executable, breaks something under load, and
compares what clients hold with the ledger and the log. A drill replaces its own section here,
with its date and build.
`

const split = (text: string): string[] => text.split(/^(?=## )/m)
const titleOf = (section: string): string => section.slice(0, section.indexOf('\n'))
