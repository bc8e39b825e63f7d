import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'

/** Habits that docs/style.md replaces. Each reads as translated English. */
const habits = [
  /\bwhoever\b/i,
  /\bwhatever (?!the\b|happens\b)/i,
  /\b(some|no|any)body\b/i,
  /\bwhat is of\b/i,
  /\bwhat there (is|are|was|were)\b/i,
  /(?<=[.:;] )What (is|was|comes|goes|takes|cannot|only)\b(?![^.]*\?)/,
  /(?<!\bthere )\b(is|are|was|were) no (?!longer\b|more\b|less\b|other\b|room\b)(?=[a-z])/i,
  /\b(is|are|was|were) (asked|told|said) of\b/i,
  /\b(that is all|binds it|was not there|are few)\b/i,
  /\b(all else|nothing of|anew|another than)\b/i,
]

/**
 * How many lines with such a habit each kind of text may have: what people read (pages, errors, help,
 * documentation), comments of the product, and tests with tools. Lower a number after removing some;
 * never raise one. The goal is 0, below 20 and below 100.
 */
const budget = { read: 0, comments: 0, tests: 49 }

type Kind = keyof typeof budget

const folders = 'src,public,packaging,contracts,docs,scripts,test,drills,bench,mutation'
const files = ['*.md', 'Dockerfile', `{${folders}}/**/*`]
  .flatMap((pattern) => [...new Glob(pattern).scanSync('.')])
  .filter((file) => /\.(tsx?|html|css|sh|md|sol|service)$|^Dockerfile$|^packaging\//.test(file))
  // Two quote the habits, and one lists reserved handles.
  .filter((file) => !/^docs\/style\.md$|^test\/style\.|passports\/handle\.ts$/.test(file))

const hits: Record<Kind, string[]> = { read: [], comments: [], tests: [] }
for (const file of files) {
  const lines = (await Bun.file(file).text()).split('\n')
  for (const [at, line] of lines.entries()) {
    const from = commentStart(file, line)
    note(kindOf(file, 'read'), `${file}:${at + 1}`, line.slice(0, from))
    note(kindOf(file, 'comments'), `${file}:${at + 1}`, line.slice(from))
  }
}

describe('plain English (docs/style.md)', () => {
  test.each([
    ['read', 'Pages, errors, command-line help and documentation stay within their budget.'],
    ['comments', 'Comments of the product stay within their budget.'],
    ['tests', 'Tests, drills, benchmarks and scripts stay within their budget.'],
  ] as const)('%s: %s', (kind) => {
    expect(hits[kind].length > budget[kind] ? hits[kind] : []).toEqual([])
  })
})

/** A comment that begins with a relative clause in place of a subject or a verb. */
const clause = /^\s*(\/\*\*?|\*|\/\/|\{\/\*) +(What|Who|Whoever|Whose|Where|Which|That is)\b/

/** The most of them in the product. Lower it after rewriting some; never raise it. */
const clauseBudget = 60

/** Rooms that have none. Add one after rewriting its comments. */
const plainRooms = [
  /^src\/(access|browser|config|kernel|models|proof|runs|storage|verify|web\/(http|pictures))\//,
  /^src\/(app\/(?!providers\/)|billing\/(?!usage\/)|front\/(webhooks|operator|telemetry)\/)/,
  /^src\/ledger\/(refund|brake|tell|told|part)/,
]

/** A comment that begins with a genitive or a pronoun: a fragment without its noun. */
const fragment = /^\s*(\/\*\*?|\*|\/\/|\{\/\*) +(Of|Those|The same)\b/

/** Rooms that still have such fragments. Remove one after rewriting its comments. */
const fragmentRooms = /^src\/(billing\/usage|cli|front|ledger|runs|web\/ui)\//

describe('comments of the product begin with a subject or a verb', async () => {
  const found: string[] = []
  const fragments: string[] = []
  for (const file of files.filter((one) => /^src\/.*\.(tsx?|css)$/.test(one))) {
    for (const [at, line] of (await Bun.file(file).text()).split('\n').entries()) {
      const place = `${file}:${at + 1}: ${line.trim()}`
      if (clause.test(line)) found.push(place)
      if (fragment.test(line) && !fragmentRooms.test(file)) fragments.push(place)
    }
  }

  test('Rooms whose comments were rewritten stay so.', () => {
    expect(found.filter((one) => plainRooms.some((room) => room.test(one)))).toEqual([])
  })

  test('Comments name their noun, except in rooms that are listed.', () => {
    expect(fragments).toEqual([])
  })

  test('All others stay within their budget: rewrite those of your change.', () => {
    expect(found.length).toBeLessThanOrEqual(clauseBudget)
  })
})

function note(kind: Kind, place: string, text: string) {
  const found = habits.map((habit) => habit.exec(text)?.[0]).filter((hit) => hit !== undefined)
  if (found.length > 0) hits[kind].push(`${place}: ${found.join(', ')}`)
}

/** Where the comment of a line begins; its length without one. */
function commentStart(file: string, line: string): number {
  if (file.endsWith('.md')) return line.length
  const start = /\.(tsx?|css|sol)$/.test(file)
    ? /^\s*(\/?\*|\/\/|\{?\/\*)|\s\/\/ |\s\/\*/
    : /^\s*#(?!!)|\s# /
  return start.exec(line)?.index ?? line.length
}

function kindOf(file: string, kind: Kind): Kind {
  return /^(test|drills|scripts|bench|mutation)\/.*(?<!\.md)$/.test(file) ? 'tests' : kind
}
