/** The words of docs/words.md: those of the code, and no others. */
import { expect, test } from 'bun:test'
import { source, tracked } from '../support/source.ts'

const page = await Bun.file('docs/words.md').text()
const words = [...page.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)]
  .flatMap(([, cell = '']) => cell.split(', '))
  .filter((word) => word !== 'word')

test('Every word of the page occurs in the code.', () => {
  const code = [...source.values()].join('\n').toLowerCase().replaceAll(/[-_]/g, ' ')
  expect(words.length).toBeGreaterThan(100)
  expect(words.filter((word) => !code.includes(word.toLowerCase().replaceAll('-', ' ')))).toEqual(
    [],
  )
})

/** Rooms of a technique, whose name is a word of the trade. */
const technical = new Set(['counts', 'db', 'figures', 'pages', 'price-files', 'protocols', 'texts'])
/** Rooms with an adjective for a name, and their word. */
const named: Record<string, string> = { 'upstream-evidence': 'evidence of the upstream' }

test('Every room of the domain is named after a word of the page.', () => {
  const rooms = new Set(
    tracked.flatMap((file) => {
      const [, room] = /^src\/(?:access|billing|models|proof|storage)\/([\w-]+)\//.exec(file) ?? []
      return room === undefined || technical.has(room) ? [] : [room]
    }),
  )
  const isKnown = (room: string) => {
    const stem = named[room] ?? room.replace(/(ies|ing|cy|s)$/, '')
    return words.some(
      (word) => word.split(' ').some((part) => part.startsWith(stem)) || word === stem,
    )
  }
  expect([...rooms].filter((room) => !isKnown(room))).toEqual([])
})
