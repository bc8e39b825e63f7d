/** Reads the keys of an upstream that has several: `keys = [{ env = "…", weight = 3 }, …]`. */
import type { WeightedKey } from '../models/upstream/key-pool.ts'
import { readList } from './read-list.ts'
import { optional, readTable, set, type ValuesOf } from './setting.ts'
import { filePath, integer, text } from './values.ts'

/** The fields of an item. */
export const keyFields = {
  env: optional(
    text('name', 'the name of an environment variable', /^[A-Za-z_][A-Za-z0-9_]*$/),
    'Environment variable with the key; with _FILE after its name, the path of a file with it.',
  ),
  file: optional(filePath, 'File that holds the key; readable by its owner only.'),
  weight: set(integer('parts', 1, 1000), '1', 'Share of the requests, relative to the other keys.'),
} as const

export type KeyEntry = ValuesOf<typeof keyFields>

/** The most keys of an upstream: each may be asked in turn before a request fails. */
const mostKeys = 32

export function readKeys(
  raw: unknown,
  find: (entry: KeyEntry, where: string) => string | undefined,
  where: string,
  problems: string[],
): WeightedKey[] {
  const name = `${where}.keys`
  const keys = readList(name, raw, problems, (entry, at) => {
    const read = readTable(keyFields, entry, at, problems)
    if (!read) return undefined
    if (!read.env && !read.file) problems.push(`${at} must name env or file`)
    const key = find(read, at)
    return key === undefined ? undefined : { ...read, name: read.env ?? read.file ?? '', key }
  })
  if (Array.isArray(raw) && (raw.length === 0 || raw.length > mostKeys)) {
    problems.push(`${name} must have 1 to ${mostKeys} items`)
  }
  const secrets = new Set(keys.map(({ key }) => key))
  if (secrets.size < keys.length) problems.push(`${name}: two are the same key`)
  return keys
}
