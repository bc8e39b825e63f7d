import { describe, expect, test } from 'bun:test'
import { everyFault } from '../../drills/faults.ts'
import { assurancePage, readTags } from '../../scripts/assurance.ts'
import { code } from '../support/source.ts'

describe('reports/assurance.md', () => {
  test('The page is the one that the tags of the tests make: bun scripts/assurance.ts', async () => {
    expect(await Bun.file('reports/assurance.md').text()).toBe(assurancePage(readTags(code)))
  })

  test('The drills and their faults that the page names exist.', async () => {
    const main = await Bun.file('drills/main.ts').text()
    const drills = readTags(code).flatMap((row) => row.drills?.split(', ') ?? [])
    const missing = drills.filter((drill) => {
      const [name, only = ''] = drill.split(/ (.+)/)
      const isThere = everyFault.some((fault) => fault.name.startsWith(only))
      return !new RegExp(`^  ${name}(\\(\\) \\{|: )`, 'm').test(main) || !isThere
    })
    expect([drills.length > 0, missing]).toEqual([true, []])
  })
})

describe('The tags of a test', () => {
  const read = (...lines: string[]) => readTags([['test/a.test.ts', lines.join('\n')]])
  const told = 'promise`A1 C: Money stays.`'

  test('Each tag stands above its test, also one with cases and in another group.', () => {
    const cases = ['  test.each([', "    f('a', 1),", "  ])('a %s', () => {})"]
    const [row] = read(told, '// Why.', "describe('b', () => {", '  promise`A1`', ...cases, '})')
    const tests = new Set(['`test/a.test.ts` “b”', '`test/a.test.ts` “a %s”'])
    expect(row).toEqual({
      id: 'A1',
      severity: 'C',
      text: 'Money stays.',
      missing: undefined,
      tests,
    })
  })

  test.each([
    ['no text', 'A1 has no text', ['promise`A1`', "test('a', () => {})"]],
    ['two texts', 'test/a.test.ts: A1 has a text elsewhere, too', [told, told, "test('a', f)"]],
    ['no test below it', 'test/a.test.ts: no test is below A1', [told, "const a = f('a', 1)"]],
    ['an unknown letter', 'Z1 belongs to no part', ['promise`Z1 C: Money.`', "test('a', f)"]],
    ['another form', 'test/a.test.ts: “a1” is not a tag', ['promise`a1`', "test('a', f)"]],
  ])('A tag with %s is refused: %s.', (_, error, lines) => {
    expect(() => read(...lines)).toThrow(error)
  })
})
