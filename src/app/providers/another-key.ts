/** Adds a key to an upstream that has one already, so that both share its requests. */
import { readFileSync } from 'node:fs'
import { withUpstreamChange } from '../../config/model-text.ts'
import type { TomlTable, TomlValue } from '../../models/price-files/price-entry.ts'
import { isSigning } from '../../models/upstream/credentials.ts'
import type { KeyPlace } from './provider-entries.ts'

/** The places of the keys of an upstream as the configuration has them, with their weights. */
function placesOf(entry: TomlTable): TomlTable[] {
  const { keys, api_key_env: env, api_key_file: file } = entry
  if (Array.isArray(keys)) return keys as TomlTable[]
  if (env !== undefined) return [{ env }]
  return file === undefined ? [] : [{ file }]
}

/** Why an upstream takes only one key; undefined where it may have more. */
export function whyOneKey(entry: TomlTable): string | undefined {
  if (isSigning(entry['auth'] as Parameters<typeof isSigning>[0])) return 'it signs with its key'
  if (entry['attest'] !== undefined) return 'it signs its answers'
  return placesOf(entry).length === 0 ? 'it has none' : undefined
}

/** The text with one more key, of weight 1; undefined if a person has to add it. */
export function withAnotherKey(
  text: string,
  entry: TomlTable,
  { variable, file }: KeyPlace,
): string | undefined {
  const fresh: TomlTable = variable === undefined ? { file: file ?? '' } : { env: variable }
  const set = { keys: [...placesOf(entry), fresh] as TomlValue }
  const remove = ['api_key_env', 'api_key_file'].filter((name) => entry[name] !== undefined)
  return withUpstreamChange(text, { id: String(entry['id']), set, remove })
}

/** The keys of an upstream that can be read here. */
export const keysOf = (
  entry: TomlTable,
  variables: Readonly<Record<string, string | undefined>>,
): string[] =>
  placesOf(entry).flatMap(({ env, file }) => {
    const path = file ?? variables[`${String(env)}_FILE`]
    const variable = env === undefined ? undefined : variables[String(env)]
    if (variable) return [variable.trim()]
    return path === undefined ? [] : keyIn(String(path))
  })

function keyIn(path: string): string[] {
  try {
    return [readFileSync(path, 'utf8').trim()]
  } catch {
    return []
  }
}
