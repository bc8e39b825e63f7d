import { describe, expect, test } from 'bun:test'
import { everyFault } from '../../drills/faults.ts'
import { faults } from '../../scripts/assurance/faults.ts'
import { groups } from '../../scripts/assurance/groups.ts'
import { assurancePage } from '../../scripts/assurance/page.ts'
import type { Place, Row } from '../../scripts/assurance/row.ts'

const all = groups.flatMap(({ rows }) => rows)
const placesOf = (of: (row: Exclude<Row, { absent: string }>) => readonly Place[]) =>
  all.flatMap((row) => ('absent' in row ? [] : of(row).map((place) => [row.id, ...place] as const)))

/** Which places are not there, by what has to stand in their file. */
async function lost(
  places: (readonly [id: string, ...Place])[],
  pattern: (name: string, file: string) => RegExp,
): Promise<string[]> {
  const found = await Promise.all(
    places.map(async ([id, file, name]) => {
      const text = await Bun.file(file)
        .text()
        .catch(() => '')
      return pattern(name, file).test(text) ? [] : [`${id}: ${file} has no “${name}”`]
    }),
  )
  return found.flat()
}

const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

describe('reports/assurance.md', () => {
  test('is the page of these rows: bun scripts/assurance.ts', async () => {
    expect(await Bun.file('reports/assurance.md').text()).toBe(assurancePage())
  })

  test('names each promise once, by the letter of its part', () => {
    const ids = all.map(({ id }) => id)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
    for (const id of ids) expect(id).toMatch(/^[A-T][1-9]\d?$/)
  })

  test('says of each promise what proves and keeps it, or what is missing', () => {
    for (const row of all) {
      if ('absent' in row) expect(row.absent).not.toBe('')
      else {
        expect([row.id, row.guards.length > 0]).toEqual([row.id, true])
        const isSaid = row.tests.length > 0 || row.missing !== undefined
        expect([row.id, isSaid]).toEqual([row.id, true])
      }
    }
  })

  test('says of each fault where it is seen', () => {
    for (const { fault, tests = [], drills = [] } of faults) {
      expect([fault, tests.length + drills.length > 0]).toEqual([fault, true])
    }
  })

  test('names drills and faults of them that are there', async () => {
    const main = await Bun.file('drills/main.ts').text()
    for (const words of faults.flatMap(({ drills = [] }) => drills)) {
      const [name, ...rest] = words.split(' ')
      const only = rest.join(' ')
      expect([words, main.includes(`async ${name}() {`)]).toEqual([words, true])
      const isThere = only === '' || everyFault.some((fault) => fault.name.startsWith(only))
      expect([words, isThere]).toEqual([words, true])
    }
  })

  test('names tests that are there', async () => {
    // A name begins right behind the parenthesis of its `test` or `describe`.
    const title = (name: string) => new RegExp(`\\(\\s*['"\`](\\$\\{\\w+\\}:? )?${literal(name)}`)
    const ofFaults = faults.flatMap(({ tests = [] }, i) =>
      tests.map((place) => [`fault ${i + 1}`, ...place] as const),
    )
    const ofRows = placesOf(({ tests }) => tests)
    expect(await lost([...ofRows, ...ofFaults], title)).toEqual([])
  })

  test('names guards that are there', async () => {
    const declared = (name: string, file: string) =>
      /^src\/.*\.tsx?$/.test(file)
        ? new RegExp(`\\b(function\\*?|const|class) ${name}\\b`)
        : new RegExp(`\\b${name}\\b`)
    expect(
      await lost(
        placesOf(({ guards }) => guards),
        declared,
      ),
    ).toEqual([])
  })
})
