/** Changes the aliases in the text of a configuration file; the rest stays as it is. */
import { parse } from 'smol-toml'
import type { TomlTable } from '../models/price-files/price-entry.ts'
import { inlineText, stable } from './model-text.ts'
import { statementsOf } from './toml-statements.ts'

/** The aliases of a file as it writes them. @throws TomlError */
export function rawAliases(text: string): Record<string, string> {
  const { aliases } = read(text)
  return typeof aliases === 'object' ? (aliases as Record<string, string>) : {}
}

/** The text with other aliases; undefined if it cannot be changed safely. */
export function withAliases(text: string, aliases: Record<string, string>): string | undefined {
  const before = rawAliases(text)
  if (stable(before) === stable(aliases)) return text
  const changed = changedText(text, before, aliases)
  const { aliases: _, ...rest } = read(text)
  const expected = Object.keys(aliases).length === 0 ? rest : { ...rest, aliases }
  try {
    const { aliases: now, ...others } = read(changed)
    const isEmpty = now === undefined || Object.keys(now as object).length === 0
    return stable(isEmpty ? others : { ...others, aliases: now }) === stable(expected)
      ? changed
      : undefined
  } catch {
    return undefined
  }
}

const inline = (aliases: Record<string, string>): string => {
  const pairs = Object.entries(aliases).map(([name, id]) => pairOf(name, id))
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

const pairOf = (name: string, id: string): string => `${JSON.stringify(name)} = ${inlineText(id)}`

function changedText(
  text: string,
  before: Record<string, string>,
  aliases: Record<string, string>,
): string {
  const statements = statementsOf(text)
  const firstTable = statements.findIndex(({ kind }) => kind !== 'pair')
  const top = firstTable === -1 ? statements : statements.slice(0, firstTable)
  const pair = top.find(({ name }) => name === 'aliases')
  if (pair) return text.slice(0, pair.valueStart) + inline(aliases) + text.slice(pair.valueEnd)
  const header = statements.findIndex(({ kind, name }) => kind === 'table' && name === 'aliases')
  if (header === -1) return `aliases = ${inline(aliases)}\n${text}`
  const next = statements.findIndex(({ kind }, at) => at > header && kind !== 'pair')
  const own = statements.slice(header + 1, next === -1 ? undefined : next)
  const behind = own.at(-1)?.end ?? statements[header]?.end ?? text.length
  const fresh = Object.entries(aliases).filter(([name, id]) => before[name] !== id)
  const lines = fresh.map(([name, id]) => `${pairOf(name, id)}\n`).join('')
  const gap = lines !== '' && text[behind - 1] !== '\n' ? '\n' : ''
  let changed = text.slice(0, behind) + gap + lines + text.slice(behind)
  for (const { name, start, end } of own.toReversed()) {
    const [bare = ''] = Object.keys(read(`${name} = 0`))
    if (aliases[bare] !== before[bare]) changed = changed.slice(0, start) + changed.slice(end)
  }
  return changed
}

const read = (text: string): TomlTable =>
  parse(text, { integersAsBigInt: true, unsafeKeyBehaviour: 'throw' }) as TomlTable
