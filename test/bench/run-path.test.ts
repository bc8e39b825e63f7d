/** The count of lines on the path of a run. */
import { expect, test } from 'bun:test'
import { linesOfCode, missingIn, tableOfPath } from '../../bench/run-path.ts'
import { steps } from '../../bench/run-path-steps.ts'

test('Comments and blank lines are no lines of code', () => {
  const text = [
    '/** A header. */',
    '/**',
    ' * Words.',
    ' */',
    '',
    "import { a } from './a.ts' // why",
    '// Alone.',
    "  const url = 'http://*/*'",
    '}',
  ]
  expect(linesOfCode(text.join('\n'))).toBe(3)
})

test('The table adds up what is there, and passes over what is not', () => {
  const there = new Map([
    ['src/runs/begin.ts', 'a\nb'],
    ['src/runs/finish.ts', 'c'],
  ])
  const rows = tableOfPath((file) => there.get(file))
  expect(rows).toContain('| runs/begin.ts | 2 |')
  expect(rows).toContain('| **begin** | **2** |')
  expect(rows.at(-1)).toBe('| **2 files** | **3** |')
})

test('A file stands in one step only', () => {
  const names = Object.values(steps).flat()
  expect(new Set(names).size).toBe(names.length)
})

test('A profile names the files that no step has', () => {
  const urls = [
    'file:///project/src/runs/begin.ts',
    'file:///project/src/runs/new.ts',
    'bun:sqlite',
  ]
  const nodes = urls.map((url, id) => ({ id, callFrame: { url } }))
  expect(missingIn({ nodes, samples: [0, 1, 1, 2] })).toEqual(['50.00 % runs/new.ts'])
})
