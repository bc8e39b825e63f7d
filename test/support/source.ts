/** The project's own files, as the tests of the house read them. */
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'

export const tracked = listTracked()
export const read = async (file: string) => [file, await Bun.file(file).text()] as const
const isCode = (file: string) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts')
export const code = new Map(await Promise.all(tracked.filter(isCode).map(read)))
export const source = new Map([...code].filter(([file]) => file.startsWith('src/')))

/** The files of the project, also those not yet committed; what git ignores is not of it. */
function listTracked(): string[] {
  const command = ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const listed = Bun.spawnSync(command, { stderr: 'ignore' }).stdout.toString()
  const files = listed.split('\0').filter((file) => file !== '')
  if (files.length > 0) return files.filter((file) => Bun.file(file).size > 0)
  // Outside of git, for instance in an unpacked archive: what a checkout would hold.
  const folders = 'src,test,scripts,bench,drills,mutation,docs,reports,drizzle,public,contracts'
  const globs = ['*.*', `{${folders}}/**/*`].map((pattern) => new Glob(pattern))
  return globs.flatMap((glob) => [...glob.scanSync('.')]).sort()
}

/** What a file imports at run time, as written. */
export function importsOf(file: string): string[] {
  const body = source.get(file) ?? ''
  const statements = body.matchAll(/^(?:import|export)\s(?!type\s)([^'"`;]*?from\s*)?'([^']+)'/gm)
  const dynamic = body.matchAll(/\bimport\('([^']+)'\)/g)
  const named = [...statements].filter(([, names]) => !onlyTypes(names ?? ''))
  return [...named.map((match) => match[2] ?? ''), ...[...dynamic].map((match) => match[1] ?? '')]
}

/** `{ type A, type B } from`: gone at run time like `import type`. */
function onlyTypes(names: string): boolean {
  const inside = /^\{([^}]*)\}/.exec(names.trim())?.[1]
  const parts = inside?.split(',').map((part) => part.trim()) ?? []
  const present = parts.filter((part) => part !== '')
  return present.length > 0 && present.every((part) => part.startsWith('type '))
}

export const resolve = (file: string, from: string) => normalize(join(dirname(file), from))

export function filesImportedBy(file: string): string[] {
  return importsOf(file)
    .filter((from) => from.startsWith('.'))
    .map((from) => resolve(file, from))
    .filter((target) => source.has(target))
}

/** Comment lines emptied: what they tell of is not done there. */
export function withoutComments(files: ReadonlyMap<string, string>): Map<string, string> {
  const comment = /^[ \t]*(\/\/|\/?\*).*$/gm
  return new Map([...files].map(([file, body]) => [file, body.replace(comment, '')]))
}

/** Lines that match, as `file:line: text`. */
export function filesWith(word: RegExp, files: ReadonlyMap<string, string>): string[] {
  const hits: string[] = []
  for (const [file, body] of files) {
    if (!word.test(body)) continue
    body.split('\n').forEach((line, i) => {
      if (word.test(line)) hits.push(`${file}:${i + 1}: ${line.trim().slice(0, 100)}`)
    })
  }
  return hits
}
