import { expect, test } from 'bun:test'
import { lineDiff } from '../../../src/app/changes/line-diff.ts'

const lines = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i}`)

test.each([10, 3000])(
  'A change among %d lines shows the lines that differ and no other one.',
  (count) => {
    const before = lines(count)
    const after = ['first', ...before.slice(0, -2), 'changed', `line ${count - 1}`, 'last']
    const shown = lineDiff(before.join('\n'), after.join('\n')).split('\n')
    expect(shown.toSorted()).toEqual(['+ changed', '+ first', '+ last', `- line ${count - 2}`])
  },
)

test('A line that comes a second time is shown once in a large file.', () => {
  const before = lines(3000)
  const shown = lineDiff(before.join('\n'), ['line 7', ...before, 'end'].join('\n'))
  expect(shown.split('\n').toSorted()).toEqual(['+ end', '+ line 7'])
})
