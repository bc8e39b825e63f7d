/** How code is written here: what enters where, sizes, and words that may not occur. */
import { describe, expect, test } from 'bun:test'
import { promise } from './support/promise.ts'
import { code, filesWith, read, source, tracked, withoutComments } from './support/source.ts'

promise`A18`
promise`F13 C: Nothing moves money out of the treasury: only the transactions of anchors are signed.`
promise`L7 H: No text is evaluated, and none is put into SQL.`
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
      /^src\/(main\.ts|app\/fetch-limit\.ts|config\/file\.ts|cli\/.+|.+\.macro\.ts)$/,
    ],
    [
      'outbound HTTP',
      /(?<![.\w])fetch\(|from 'node:https?'/,
      /^src\/(models\/upstream\/http\.ts$|browser\/)/,
    ],
    [
      'SQL',
      /from '(drizzle-orm|bun:sqlite)|\bsql`/,
      /^src\/(storage\/db\/.+|.+\/store(\/.+)?\.ts|.+-rows\.ts)$/,
    ],
    ['signed transactions', /\bserializeTransaction\b/, /^src\/proof\/anchors\/sender\.ts$/],
    // Time comes from the process, but for the time by which leases are judged.
    [
      "a server's clock",
      /clock_timestamp|statement_timestamp|current_timestamp|\bnow\(\) at time|strftime\(/i,
      /^src\/storage\/db\/engine\/postgres\.ts$/,
    ],
    ['raw SQL text', /\bsql\.(raw|identifier)\(/, /^src\/storage\/db\//],
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
    expect(filesWith(hook, source)).toEqual([])
  })

  test('nothing gives types up or is left for later', () => {
    const word = /\bas a[n]y\b|@ts-(ign[o]re|expect-[e]rror)|\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b/
    expect(filesWith(word, code)).toEqual([])
  })

  test('a module keeps no state of a service: it stands in Deps, or where the route is made', () => {
    // What these keep belongs to one request, one app or one schema, and goes with it.
    const own = /^src\/web\/http\/(check-body|client-address|lazy-mount|expected-body)\.ts:/
    const hits = filesWith(/^(export )?(const|let) \w+ = new WeakMap/m, source)
    expect(hits.filter((hit) => !own.test(hit))).toEqual([])
  })

  test('no test is left out or alone', () => {
    const tests = new Map([...code].filter(([file]) => file.startsWith('test/')))
    // `skipIf` stays: it says what is missing on this machine.
    expect(filesWith(/\b(test|it|describe)\.(sk[i]p|on[l]y|to[d]o)\b/, tests)).toEqual([])
  })

  test('tests wait for a rejection with test/support/rejection.ts, which does not stall', () => {
    expect(filesWith(/\)\.rej[e]cts\b/, code)).toEqual([])
  })

  // A little over three hundred, so that no file is parted for the sake of a count.
  test('files have at most 310 lines, and others than tests at most 100 columns', () => {
    const wrong: string[] = []
    for (const [file, body] of code) {
      const lines = body.split('\n')
      if (lines.length > 311) wrong.push(`${file}: ${lines.length - 1} lines`)
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
  const text = tracked.filter((file) => !/\.(woff2|ttf|png|jpg|ico)$/.test(file))
  const hits = filesWith(word, new Map(await Promise.all(text.map(read))))
  // The one line that finds the test vectors beside the checkout.
  expect(hits.filter((hit) => !hit.startsWith('.ci/run:')).join('\n')).toBe('')
  expect(hits.length).toBeLessThanOrEqual(1)
})

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
