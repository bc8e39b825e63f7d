/** Reads YAML as exact JSON. */
import { type ExactJson, NumberText } from '../../kernel/exact-json.ts'

/** The most values of a file: references to references could make a small file huge. */
const valuesMost = 500_000

/** @throws Error that repeats no word of the text, which may hold secrets */
export function parseExactYaml(text: string): ExactJson {
  let parsed: unknown
  try {
    parsed = Bun.YAML.parse(text)
  } catch {
    throw new Error('it is not YAML')
  }
  let values = 0
  const read = (value: unknown): ExactJson => {
    if (++values > valuesMost) throw new Error('it has more values than a configuration')
    if (Array.isArray(value)) return value.map(read)
    // The shortest text of a number is what the file says, up to 15 digits.
    if (typeof value === 'number') return new NumberText(String(value))
    if (typeof value === 'boolean' || typeof value === 'string') return value
    if (typeof value !== 'object' || value === null) return null
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, read(one)]))
  }
  return read(parsed)
}
