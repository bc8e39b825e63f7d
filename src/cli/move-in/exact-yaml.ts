/** Reads YAML with its numbers as they are written. */
import { type ExactJson, NumberText } from '../../kernel/exact-json.ts'

/** The most values of a file: references to references could make a small file huge. */
const valuesMost = 500_000

/** @throws Error with the line of the first fault */
export async function parseExactYaml(text: string): Promise<ExactJson> {
  // Loaded here, because no other command reads YAML.
  const { isAlias, isMap, isScalar, isSeq, parseDocument } = await import('yaml')
  const document = parseDocument(text)
  const [fault] = document.errors
  if (fault) throw new Error(`it is not YAML: ${fault.message.split('\n')[0]?.replace(/:$/, '')}`)
  let values = 0
  const nameOf = (key: unknown): string => String(isScalar(key) ? key.value : key)
  const read = (node: unknown): ExactJson => {
    if (++values > valuesMost) throw new Error('it has more values than a configuration')
    if (isAlias(node)) return read(node.resolve(document))
    if (isSeq(node)) return node.items.map(read)
    if (isMap(node)) {
      const pairs = node.items.flatMap(({ key, value }): [string, ExactJson][] => {
        const inner = read(value)
        const merges = nameOf(key) === '<<' && typeof inner === 'object' && inner !== null
        return merges ? Object.entries(inner) : [[nameOf(key), inner]]
      })
      return Object.fromEntries(pairs)
    }
    if (!isScalar(node) || node.value === null || node.value === undefined) return null
    const { value } = node
    if (typeof value === 'number') return new NumberText(node.source ?? String(value))
    return typeof value === 'boolean' ? value : String(value)
  }
  return read(document.contents)
}
