/** Reads the logs that a witness watches: `[[logs]] origin, key` of a TOML file. */
import { parse, TomlError } from 'smol-toml'
import { keyTypes, type NoteKey, parseVkey } from '../verify/signed-note.ts'
import { readList } from './read-list.ts'
import { needed, readTable } from './setting.ts'
import { text } from './values.ts'

const logFields = {
  origin: needed(
    text('origin', 'the first line of its checkpoints', /^[^\n]{1,1000}$/u),
    'What its checkpoints begin with.',
  ),
  key: needed(text('key', 'name+id+base64', /^\S{1,2000}$/u), 'Who signs them.'),
} as const

/** Keys by the origins of their logs. An origin may stand twice, while its log changes its key. */
export type WatchedLogs = Map<string, NoteKey[]>

/** Reads the text of a file, or says everything that is wrong with it. */
export function readWatchedLogs(toml: string): { logs: WatchedLogs } | { problems: string[] } {
  const problems: string[] = []
  const logs: WatchedLogs = new Map()
  const { logs: listed, ...others } = parseToml(toml, problems)
  for (const name of Object.keys(others)) problems.push(`${name} is unknown; expected [[logs]]`)
  readList('logs', listed, problems, (entry, where) => {
    const read = readTable(logFields, entry, where, problems)
    const key = read && parseVkey(read.key)
    if (read && key?.type !== keyTypes.ed25519) {
      problems.push(`${where}.key must be an Ed25519 key as name+id+base64, as in /v1/signer`)
    } else if (read && key) logs.set(read.origin, [...(logs.get(read.origin) ?? []), key])
    return read
  })
  if (problems.length === 0 && logs.size === 0) problems.push('it names no log: add [[logs]]')
  return problems.length > 0 ? { problems } : { logs }
}

function parseToml(toml: string, problems: string[]): Record<string, unknown> {
  try {
    return parse(toml, { integersAsBigInt: true })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    problems.push(`line ${error.line}, column ${error.column}: ${error.message.split('\n')[0]}`)
    return {}
  }
}
