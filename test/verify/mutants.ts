import fc from 'fast-check'

/** A text that says something else to a reader that takes the first of two members. */
export type Mutant = { name: string; text: string }

/** An object of a file, by the names that lead there. */
type Spot = { steps: (string | number)[]; members: string[] }

/** Names that a parser, a prototype or an object's order could swallow. */
const oddNames = [
  '__proto__',
  'constructor',
  'toString',
  '0',
  '',
  ' type',
  'Type',
  '$hash',
  'é',
  '"',
]

/** Known beside `receipt`, so no addition. */
const optional = ['visibility', 'proof', 'disclosures', 'input', 'output', 'value']

/**
 * Any valid file with one member added, or given twice, somewhere in it: the copy first or last,
 * with the same value or another one, its name escaped or not.
 */
export const mutantOf = (file: object): fc.Arbitrary<Mutant> => {
  const spots = spotsOf(JSON.parse(JSON.stringify(file)))
  return fc
    .record({
      spot: fc.constantFrom(...spots),
      other: fc.oneof(fc.constantFrom(...oddNames), fc.string({ maxLength: 8 })),
      pick: fc.nat(),
      isAdded: fc.boolean(),
      isFirst: fc.boolean(),
      isEscaped: fc.boolean(),
      value: fc.constantFrom(undefined, null, '', '0', 7, {}, [], { a: [1] }, true),
    })
    .filter(({ isAdded, other, spot: { members } }) =>
      isAdded ? !members.includes(other) && !optional.includes(other) : members.length > 0,
    )
    .map(({ spot, other, pick, isAdded, isFirst, isEscaped, value }) => {
      const name = isAdded ? other : (spot.members[pick % spot.members.length] ?? '')
      const written = isEscaped ? escaped(name) : JSON.stringify(name)
      const text = write(file, spot.steps, (members, own) => {
        const given = value === undefined && !isAdded ? JSON.stringify(own[name]) : toJson(value)
        const added = `${written}:${given}`
        return isFirst ? [added, ...members] : [...members, added]
      })
      const what = isAdded ? 'added' : 'given twice'
      return {
        name: `${JSON.stringify(name)} ${what} at ${spot.steps.join('.') || 'the top'}`,
        text,
      }
    })
}

/** Mutants of files, the same ones in every run of a test that is slow. */
export const someMutants = (files: readonly object[], count: number): Mutant[] =>
  fc.sample(fc.oneof(...files.map(mutantOf)), { numRuns: count, seed: 4663 })

const toJson = (value: unknown): string => JSON.stringify(value ?? null)

const escaped = (name: string): string =>
  `"${[...Array(name.length).keys()]
    .map((i) => `\\u${name.charCodeAt(i).toString(16).padStart(4, '0')}`)
    .join('')}"`

function spotsOf(value: unknown, steps: Spot['steps'] = []): Spot[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => spotsOf(item, [...steps, i]))
  if (typeof value !== 'object' || value === null) return []
  const below = Object.entries(value).flatMap(([name, inner]) => spotsOf(inner, [...steps, name]))
  return [{ steps, members: Object.keys(value) }, ...below]
}

type Edit = (members: string[], own: Record<string, unknown>) => string[]

/** Writes a value as JSON, the members of the object that `steps` lead to as `edit` says. */
function write(value: unknown, steps: Spot['steps'], edit: Edit, at: Spot['steps'] = []): string {
  if (Array.isArray(value)) {
    return `[${value.map((item, i) => write(item, steps, edit, [...at, i])).join()}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const own = value as Record<string, unknown>
  const members = Object.entries(own)
    .filter(([, inner]) => inner !== undefined)
    .map(([name, inner]) => `${JSON.stringify(name)}:${write(inner, steps, edit, [...at, name])}`)
  return `{${(at.join('/') === steps.join('/') ? edit(members, own) : members).join()}}`
}
