import { describe, expect, test } from 'bun:test'
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'

const tracked = listTracked()
const read = async (file: string) => [file, await Bun.file(file).text()] as const
const isCode = (file: string) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts')
const code = new Map(await Promise.all(tracked.filter(isCode).map(read)))
const source = new Map([...code].filter(([file]) => file.startsWith('src/')))

type Floor = 'kernel' | 'domain' | 'outside' | 'door' | 'house' | 'browser' | 'build'

/** What each floor may import at run time. `import type` is free: it is gone when we run. */
const mayImport: Record<Floor, Floor[]> = {
  kernel: ['kernel'],
  domain: ['kernel', 'domain'],
  outside: ['kernel', 'domain', 'outside'],
  door: ['kernel', 'domain', 'door'],
  house: ['kernel', 'domain', 'outside', 'door', 'house'],
  browser: ['kernel', 'domain', 'browser'],
  // Runs while Bun transpiles; what is left of it is the value it returned.
  build: ['kernel', 'domain', 'build'],
}

const packages: Record<Floor, RegExp> = {
  kernel: /^(node:net|canonicalize|@noble\/.+)$/,
  domain: /^(node:net$|viem|@noble\/|siwe|lru-cache)/,
  outside: /^(drizzle-orm|bun|node:|viem|secp256k1|@noble\/|lru-cache)/,
  door: /^(node:net$|elysia|@elysiajs\/|@sinclair\/typebox|@kitajs\/|d3-|uqr|@modelcontext)/,
  house: /./,
  browser: /^(viem|@noble\/|htmx)/,
  build: /^(node:(fs|path)|bun:sqlite|viem|@noble\/.+)$/,
}

/** The floor a file stands on, by its path alone. */
function floorOf(file: string): Floor {
  if (file.endsWith('.macro.ts')) return 'build'
  if (file.startsWith('src/kernel/')) return 'kernel'
  if (file.startsWith('src/browser/')) return 'browser'
  if (/^src\/(web\/)?(http|ui)\/|^src\/(front\/reference|docs)\//.test(file)) return 'door'
  if (/^src\/(app|config|cli)\/|^src\/[^/]+$/.test(file)) return 'house'
  if (/[/-](api|auth|portal|pages|shapes)(\/|\.tsx?$)|\/needs-/.test(file)) return 'door'
  if (/^src\/(\w+\/)?(db|chain|upstream|signer)\/|[/-]store(\/|\.ts$)|\/ledger\/post/.test(file))
    return 'outside'
  return 'domain'
}

/** The room of a file: its wing, and the folder in it unless that is a floor of a one-room wing. */
function roomOf(file: string): string {
  const [, wing, room] = dirname(file).split('/')
  const isFloor = room === undefined || /^(api|store|portal|pages)$/.test(room)
  return isFloor ? `${wing}` : `${wing}/${room}`
}

describe('floors', () => {
  test('a file imports only what its floor may', () => {
    const wrong: string[] = []
    for (const file of source.keys()) {
      const floor = floorOf(file)
      for (const from of importsOf(file)) {
        if (!from.startsWith('.')) {
          if (!packages[floor].test(from)) wrong.push(`${file} (${floor}) -> ${from}`)
          continue
        }
        const target = floorOf(resolve(file, from))
        // A port stands beside what implements it; its types and failures are for all.
        const port = /\/(\w+)\/\1\.ts$/.test(resolve(file, from)) && target === 'outside'
        const free = port || target === 'build'
        if (/\.tsx?$/.test(from) && !free && !mayImport[floor].includes(target)) {
          wrong.push(`${file} (${floor}) -> ${resolve(file, from)} (${target})`)
        }
      }
    }
    expect(wrong).toEqual([])
  })

  test('a door never reaches a store', () => {
    const doors = [...source.keys()].filter((file) => floorOf(file) === 'door')
    const isStore = (from: string) => /[/-]store(\/[\w-]+)?\.ts$/.test(from)
    const wrong = doors.filter((file) => importsOf(file).some(isStore))
    expect(wrong).toEqual([])
  })

  test('files import each other in no circle', () => {
    const edges = new Map([...source.keys()].map((file) => [file, filesImportedBy(file)]))
    expect(findCircle(edges)).toBeUndefined()
  })

  test('folders import each other in no circle', () => {
    const edges = new Map<string, string[]>()
    for (const file of source.keys()) {
      if (floorOf(file) === 'house' || floorOf(file) === 'build') continue
      const folder = roomOf(file)
      const lasting = filesImportedBy(file).filter((other) => floorOf(other) !== 'build')
      const others = lasting.map(roomOf)
      edges.set(folder, [
        ...(edges.get(folder) ?? []),
        ...others.filter((other) => other !== folder),
      ])
    }
    expect(findCircle(edges)).toBeUndefined()
  })
})

describe('the outside world enters through its own files', () => {
  const doors: [what: string, word: RegExp, where: RegExp][] = [
    ['the clock', /\bDate\.now\b|new Date\(\)|\bperformance\.now\b/, /^src\/kernel\/clock\.ts$/],
    [
      'randomness',
      /\bMath\.random\b|\bgetRandomValues\b|\brandomUUID\b|\brandomBytes\b/,
      /^src\/kernel\/random\.ts$/,
    ],
    [
      'the process',
      /\bprocess\.|\bBun\.(env|argv|main)\b/,
      /^src\/((main|config-file|config\/file)\.ts|cli\/.+|.+\.macro\.ts)$/,
    ],
    [
      'outbound HTTP',
      /(?<![.\w])fetch\(|from 'node:https?'/,
      /^src\/((models\/)?upstream\/http\.ts$|browser\/)/,
    ],
    [
      'SQL',
      /from '(drizzle-orm|bun:sqlite)|\bsql`/,
      /^src\/((storage\/)?db\/.+|.+[/-]store(\/.+)?\.ts)$/,
    ],
    // Time comes from the process, but for the time by which leases are judged.
    [
      "a server's clock",
      /clock_timestamp|statement_timestamp|current_timestamp|\bnow\(\) at time|strftime\(/i,
      /^src\/(storage\/)?db\/postgres\.ts$/,
    ],
    ['raw SQL text', /\bsql\.(raw|identifier)\(/, /^src\/(storage\/)?db\//],
    ['evaluated text', /\beval\(|new Function\(|\bBun\.\$/, /^$/],
    // An async callback lets bun:sqlite commit half of a transaction; PostgreSQL needs one.
    ['an async transaction', /(?<!\bpg)\.transaction\(\s*async/, /^$/],
  ]
  test.each(doors)('%s', (_, word, where) => {
    const hits = filesWith(word, withoutComments(source))
    expect(hits.filter((hit) => !where.test(hit.split(':')[0] ?? ''))).toEqual([])
  })
})

describe('style', () => {
  test('Elysia hooks are arrows: their source is read, and minifying breaks methods', () => {
    const hook =
      /(?<![.\w])(async )?(resolve|derive|beforeHandle|afterHandle|transform)\([^)]*\) \{/
    const doors = new Map([...source].filter(([file]) => floorOf(file) === 'door'))
    expect(filesWith(hook, doors)).toEqual([])
  })

  test('nothing gives types up or is left for later', () => {
    const word = /\bas a[n]y\b|@ts-(ign[o]re|expect-[e]rror)|\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b/
    expect(filesWith(word, code)).toEqual([])
  })

  test('no test is left out or alone', () => {
    const tests = new Map([...code].filter(([file]) => file.startsWith('test/')))
    // `skipIf` stays: it says what is missing on this machine.
    expect(filesWith(/\b(test|it|describe)\.(sk[i]p|on[l]y|to[d]o)\b/, tests)).toEqual([])
  })

  test('files have at most 300 lines, and what is no test at most 100 columns', () => {
    const wrong: string[] = []
    for (const [file, body] of code) {
      const lines = body.split('\n')
      if (lines.length > 301) wrong.push(`${file}: ${lines.length - 1} lines`)
      // Tests hold hex and names of guarantees that no formatter can break.
      if (file.startsWith('test/')) continue
      lines.forEach((line, i) => {
        if (line.length > 100) wrong.push(`${file}:${i + 1}: ${line.length} columns`)
      })
    }
    expect(wrong).toEqual([])
  })

  test('functions have at most 70 lines', () => {
    // The schema is a declaration: a page of tables.
    const files = [...source].filter(([file]) => !/\/db\/schema/.test(file))
    expect(files.flatMap(([file, body]) => longFunctions(file, body))).toEqual([])
  })
})

test('no tracked file names a machine, a registry or a folder outside of the project', async () => {
  const word = /\/w[o]rk\/|\/f[a]rm\/|\.\.\/sh[a]red|\/ro[o]t\/|registry\.[n]pmjs|deb\.[d]ebian/
  const text = tracked.filter((file) => !/\.(woff2|png|jpg|ico)$/.test(file))
  const hits = filesWith(word, new Map(await Promise.all(text.map(read))))
  // The one line that finds the test vectors beside the checkout.
  expect(hits.filter((hit) => !hit.startsWith('.ci/run:')).join('\n')).toBe('')
  expect(hits.length).toBeLessThanOrEqual(1)
})

/** The files of the project, also those not yet committed; what git ignores is not of it. */
function listTracked(): string[] {
  const command = ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const listed = Bun.spawnSync(command, { stderr: 'ignore' }).stdout.toString()
  const files = listed.split('\0').filter((file) => file !== '')
  if (files.length > 0) return files.filter((file) => Bun.file(file).size > 0)
  // Outside of git, for instance in an unpacked archive: what a checkout would hold.
  const folders = 'src,test,scripts,bench,drills,docs,reports,drizzle,public,contracts'
  const globs = ['*.*', `{${folders}}/**/*`].map((pattern) => new Glob(pattern))
  return globs.flatMap((glob) => [...glob.scanSync('.')]).sort()
}

/** What a file imports at run time, as written. */
function importsOf(file: string): string[] {
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

const resolve = (file: string, from: string) => normalize(join(dirname(file), from))

function filesImportedBy(file: string): string[] {
  return importsOf(file)
    .filter((from) => from.startsWith('.'))
    .map((from) => resolve(file, from))
    .filter((target) => source.has(target))
}

function findCircle(edges: Map<string, string[]>): string | undefined {
  const done = new Set<string>()
  const visit = (node: string, path: string[]): string | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node].join(' -> ')
    if (done.has(node)) return undefined
    for (const next of edges.get(node) ?? []) {
      const circle = visit(next, [...path, node])
      if (circle) return circle
    }
    done.add(node)
    return undefined
  }
  for (const node of edges.keys()) {
    const circle = visit(node, [])
    if (circle) return circle
  }
  return undefined
}

/** Comment lines emptied: what they tell of is not done there. */
function withoutComments(files: ReadonlyMap<string, string>): Map<string, string> {
  const comment = /^[ \t]*(\/\/|\/?\*).*$/gm
  return new Map([...files].map(([file, body]) => [file, body.replace(comment, '')]))
}

/** Lines that match, as `file:line: text`. */
function filesWith(word: RegExp, files: ReadonlyMap<string, string>): string[] {
  const hits: string[] = []
  for (const [file, body] of files) {
    if (!word.test(body)) continue
    body.split('\n').forEach((line, i) => {
      if (word.test(line)) hits.push(`${file}:${i + 1}: ${line.trim().slice(0, 100)}`)
    })
  }
  return hits
}

/** Functions of over 70 lines, not counting the functions inside them. */
function longFunctions(file: string, body: string): string[] {
  const lines = body.split('\n')
  const spans = lines.flatMap((_, start) => functionAt(lines, start) ?? [])
  const within = (outer: Span, inner: Span) => inner.start > outer.start && inner.end <= outer.end
  return spans.flatMap((span) => {
    const inner = spans.filter((other) => within(span, other))
    const direct = inner.filter((one) => !inner.some((other) => within(other, one)))
    const own = direct.reduce((left, one) => left - lengthOf(one), lengthOf(span))
    return own > 70 ? [`${file}:${span.start + 1}: ${own} lines`] : []
  })
}

type Span = { start: number; end: number }

const lengthOf = ({ start, end }: Span) => end - start + 1

/** By indentation, which the formatter keeps: a function ends where its indent returns. */
function functionAt(lines: string[], start: number): Span | undefined {
  const line = lines[start] ?? ''
  const opens = /(^|\s)(async )?(function\b.*|\*?\w+\(.*\).*|.*=>) \{$|^\s*\)(: .*)? (=> )?\{$/
  if (!opens.test(line) || /^\s*(describe|if|for|while|switch|return \{)\b/.test(line)) return
  const indent = /^\s*/.exec(line)?.[0] ?? ''
  const end = lines.findIndex((other, i) => i > start && other.startsWith(`${indent}}`))
  return end === -1 ? undefined : { start, end }
}
