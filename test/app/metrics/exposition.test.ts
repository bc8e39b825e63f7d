import { describe, expect, test } from 'bun:test'
import { counter, histogram } from '../../../src/app/metrics/instrument.ts'
import { gauge, gauges, writeExposition } from '../../../src/kernel/exposition.ts'
import { readExposition } from './exposition.ts'

describe('the text format', () => {
  test('labels are escaped, and come back as they were', () => {
    const value = 'a"b\\c\nd'
    const text = writeExposition([gauges('some', 'Two\nlines.', [{ labels: { value }, value: 1 }])])
    expect(text).toBe(
      '# HELP some Two\\nlines.\n# TYPE some gauge\nsome{value="a\\"b\\\\c\\nd"} 1\n',
    )
    expect(readExposition(text).get('some')?.samples[0]?.labels).toEqual({ value })
  })

  test('what no one knows is left out', () => {
    const families = [gauge('a', 'A.', null), gauge('b', 'B.', undefined), gauge('c', 'C.', 0)]
    expect([...readExposition(writeExposition(families)).keys()]).toEqual(['c'])
  })

  test('money beyond a double stays exact', () => {
    const money = counter('money_total', 'Money.', ['kind'])
    money.add({ kind: 'run' }, 9_007_199_254_740_993n)
    money.add({ kind: 'run' }, 2n)
    expect(writeExposition([money.family()])).toContain(
      'money_total{kind="run"} 9007199254740995\n',
    )
  })

  test('a histogram counts each value in every bucket it is not above', () => {
    const taken = histogram('taken_seconds', 'Time.', [], [1, 2, 5])
    for (const value of [0.5, 1, 1.5, 5, 7]) taken.observe({}, value)
    const text = writeExposition([taken.family()])
    readExposition(text)
    expect(text.split('\n').slice(2)).toEqual([
      'taken_seconds_bucket{le="1"} 2',
      'taken_seconds_bucket{le="2"} 3',
      'taken_seconds_bucket{le="5"} 4',
      'taken_seconds_bucket{le="+Inf"} 5',
      'taken_seconds_sum 15',
      'taken_seconds_count 5',
      '',
    ])
  })
})

describe('the reader of the tests refuses', () => {
  const wrong = {
    'a sample without a family': 'a 1\n',
    'a type without its help': '# TYPE a gauge\na 1\n',
    'a series twice': '# HELP a A.\n# TYPE a gauge\na{x="1"} 1\na{x="1"} 2\n',
    'a counter without _total in its name': '# HELP a A.\n# TYPE a counter\na 1\n',
    'a value that is none': '# HELP a A.\n# TYPE a gauge\na one\n',
    'an open label': '# HELP a A.\n# TYPE a gauge\na{x="1} 1\n',
    'no end of the last line': '# HELP a A.\n# TYPE a gauge\na 1',
  }
  test.each(Object.entries(wrong))('The reader refuses an exposition: %s.', (_, text) => {
    expect(() => readExposition(text)).toThrow()
  })
})
