import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'
import { promise } from '../support/promise.ts'
import { stopwatch } from './run.ts'

/** A regular expression as it stands in the source. */
type Pattern = { source: string; flags: string; file: string }

/** Those that take the square of a length, and why nothing long ever comes to them. */
const short = new Map([
  ['0+$', 'the digits of a number of ours'],
  [String.raw`\.?0+$`, 'the digits of a number of ours'],
  [String.raw`\B(?=(\d{3})+$)`, 'the digits of a number of ours, or of one that was read strictly'],
  [
    '(exceed|too |longer|larger|greater|maximum|beyond).*context[ _-]?(length|window|size|limit)',
    'the message of an upstream, which is cut to 2,000 characters first',
  ],
  [String.raw`\bVersion\/.*Safari\/`, 'a user agent, which is cut to 200 characters first'],
])

const literal =
  /(?<=[=(,:!&|?[{};\s]|return|=>)\s*\/(?![*/])((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[\s.,;)\]}:]|$)/g

function patterns(): Pattern[] {
  const found = new Map<string, Pattern>()
  for (const path of new Glob('src/**/*.{ts,tsx}').scanSync('.')) {
    const text = readFileSync(path, 'utf8')
    const code = text.replace(/^[ \t]*(\/\/|\*|\/\*).*$/gm, '')
    for (const [, source = '', flags = ''] of code.matchAll(literal)) {
      found.set(`${source}/${flags}`, { source, flags: flags.replace(/[gy]/g, ''), file: path })
    }
  }
  return [...found.values()].filter(isPattern)
}

/** What stands between two slashes may be text of a page as well. */
function isPattern({ source, flags }: Pattern): boolean {
  try {
    return new RegExp(source, flags).source !== ''
  } catch {
    return false
  }
}

/** What most patterns are made of; beside it each gets the words that stand in itself. */
const pieces = [
  ...[
    'a',
    '0',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '-',
    '.',
    '=',
    '"',
    "'",
    '\\',
    '/',
    '%',
    '_',
    ',',
    ':',
    ';',
  ],
  ...[
    '?',
    '&',
    '*',
    '$',
    '{',
    '[',
    '(',
    '<',
    '|',
    '@',
    '+',
    'é',
    '\u0301',
    '0x',
    '1,',
    'a ',
    'a.',
    '//',
  ],
]
const length = 30_000
/** A pattern that looks at each place once takes a fraction of one. In ms of the processor. */
const mostMs = 60

/** A text that keeps the pattern busy, if there is one; it ends in what no pattern wants. */
function slowTextOf({ source, flags }: Pattern): string | undefined {
  const pattern = new RegExp(source, flags)
  const words = source.replace(/\\[a-zA-Z]/g, ' ').match(/[A-Za-z0-9:=/"<-]+/g) ?? []
  const own = words.slice(0, 6).flatMap((word) => [word, `${word} `, `${word}a`])
  for (const before of ['', ...words.slice(0, 2), 'a']) {
    for (const piece of [...pieces, ...own]) {
      const text = `${before}${piece.repeat(Math.ceil(length / piece.length))}\0!`
      if (msOf(pattern, text) > mostMs && msOf(pattern, text) > mostMs) return before + piece
    }
  }
  return undefined
}

function msOf(pattern: RegExp, text: string): number {
  const spent = stopwatch()
  pattern.test(text)
  return spent()
}

promise`J8`
test('no pattern takes more than linear time, but for those that nothing long comes to', () => {
  const all = patterns()
  expect(all.length).toBeGreaterThan(120)
  const slow = all
    .filter(({ source }) => !short.has(source))
    .flatMap((pattern) => {
      const text = slowTextOf(pattern)
      return text === undefined
        ? []
        : [`${pattern.file}: /${pattern.source}/ by ${JSON.stringify(text)}`]
    })
  expect(slow).toEqual([])
}, 120_000)

test('a pattern that takes the square of the length is found', () => {
  expect(slowTextOf({ source: String.raw`[?&][^=\s&]*key`, flags: '', file: '' })).toBe('?')
})
