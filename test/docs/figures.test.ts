/**
 * Figures that pages quote from reports. A quoted figure is a link whose title names its source:
 * `[3.54](../reports/benchmarks.md "CPU of a paid run against the pass-through")`.
 */
import { expect, test } from 'bun:test'
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'

const pages = [...new Glob('*.md').scanSync('.'), ...new Glob('docs/*.md').scanSync('.')]
const quotes = (
  await Promise.all(
    pages.map(async (page) => {
      const text = await Bun.file(page).text()
      return [...text.matchAll(/\[([^\]]+)\]\((\S*reports\/\S+\.md) "([^"]+)"\)/g)].map(
        ([, figure = '', target = '', source = '']) => ({
          page,
          figure,
          source,
          report: normalize(join(dirname(page), target)),
        }),
      )
    }),
  )
).flat()

/** The text of a report in one line; a sentence may be broken anywhere. */
const flat = async (report: string) => (await Bun.file(report).text()).replaceAll(/\s+/g, ' ')

const words: Record<string, number> = { one: 1, two: 2, three: 3, four: 4 }
const numberOf = (text: string) => words[text] ?? Number(text.replaceAll(',', ''))
const digitsOf = (text: string) => text.split('.')[1]?.length ?? 0

/** Numbers that the report has for a source: the second cell of its row, or those in its words. */
async function numbersOf(report: string, source: string): Promise<number[]> {
  const text = await flat(report)
  const [, cell] = text.split(`| ${source} | `)
  if (cell !== undefined) return [numberOf(cell.split(' |')[0] ?? '')]
  if (!text.includes(source)) return []
  return [...source.matchAll(/\d[\d,]*(\.\d+)?/g)].map(([number]) => numberOf(number))
}

test('Every figure that a page quotes from a report stands there, rounded as the page shows it.', async () => {
  expect(quotes.length).toBeGreaterThan(20)
  const wrong: string[] = []
  for (const { page, figure, report, source } of quotes) {
    const found = await numbersOf(report, source)
    const shown = numberOf(figure)
    const isThere = found.some((one) => Number(one.toFixed(digitsOf(figure))) === shown)
    if (!isThere)
      wrong.push(`${page}: ${figure}, where ${report} has ${found.join(', ')}: ${source}`)
  }
  expect(wrong).toEqual([])
})
