/**
 * `bun bench/run-path.ts [--commit <commit>] [--profile <file.cpuprofile>]`: the lines of code of
 * the files that a paid run passes on SQLite, from the door to the answer, by step. A line that is
 * blank or only a comment does not count. With a profile of a server under load it names the files
 * that the profile has and the list lacks.
 */
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { steps } from './run-path-steps.ts'

/** How many lines of a file are code. */
export function linesOfCode(text: string): number {
  let code = 0
  let inComment = false
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (!inComment && line.startsWith('/*')) inComment = true
    else if (!inComment && line !== '' && !line.startsWith('//')) code++
    if (inComment && line.endsWith('*/')) inComment = false
  }
  return code
}

/** The table, a row for each file that is there; a name of the list may be of another commit. */
export function tableOfPath(read: (file: string) => string | undefined): string[] {
  const rows: string[] = []
  let [all, files] = [0, 0]
  for (const [step, names] of Object.entries(steps)) {
    const found = names.flatMap((either) => {
      const name = either.split('|').find((one) => read(`src/${one}`) !== undefined)
      return name === undefined ? [] : [{ name, lines: linesOfCode(read(`src/${name}`) ?? '') }]
    })
    const sum = found.reduce((total, { lines }) => total + lines, 0)
    rows.push(`| **${step}** | **${sum}** |`)
    rows.push(...found.map(({ name, lines }) => `| ${name} | ${lines} |`))
    all += sum
    files += found.length
  }
  return ['| file | lines |', '| --- | --- |', ...rows, `| **${files} files** | **${all}** |`]
}

/** Files of this project in a profile that no step names, with their share of the time. */
export function missingIn(profile: Profile): string[] {
  const names = Object.values(steps).flat()
  const known = new Set<string>(names.flatMap((either) => either.split('|')))
  const nameOf = new Map(
    profile.nodes.map(({ id, callFrame }) => [id, /\/src\/(.+)$/.exec(callFrame.url)?.[1]]),
  )
  const times = new Map<string, number>()
  for (const sample of profile.samples) {
    const name = nameOf.get(sample)
    if (name !== undefined && !known.has(name)) times.set(name, (times.get(name) ?? 0) + 1)
  }
  return [...times]
    .toSorted((a, b) => b[1] - a[1])
    .map(([name, count]) => `${((100 * count) / profile.samples.length).toFixed(2)} % ${name}`)
}

/** What of a `.cpuprofile` is read. */
export type Profile = {
  nodes: { id: number; callFrame: { url: string } }[]
  samples: number[]
}

function showAt(commit: string, file: string): string | undefined {
  const { stdout, exitCode } = Bun.spawnSync(['git', 'show', `${commit}:${file}`])
  return exitCode === 0 ? stdout.toString() : undefined
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { commit: { type: 'string' }, profile: { type: 'string' } },
  })
  const { commit, profile } = values
  const readHere = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)
  const read = (file: string) => (commit === undefined ? readHere(file) : showAt(commit, file))
  console.log(tableOfPath(read).join('\n'))
  if (profile !== undefined) {
    const missing = missingIn(JSON.parse(readFileSync(profile, 'utf8')) as Profile)
    console.log(`\nIn the profile, but in no step:\n${missing.join('\n')}`)
  }
}
