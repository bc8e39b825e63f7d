/** Adds aliases and a plan's limit to the text of a configuration file; the rest stays. */
import { parse } from 'smol-toml'
import type { Aliases } from '../models/aliases.ts'
import { inlineText, stable } from './model-text.ts'
import { statementsOf } from './toml-statements.ts'

const read = (text: string): Record<string, unknown> =>
  parse(text, { integersAsBigInt: true, unsafeKeyBehaviour: 'throw' })

/** The aliases of a file as it writes them. @throws TomlError */
export function rawAliases(text: string): Aliases {
  const { aliases } = read(text)
  return typeof aliases === 'object' && aliases !== null ? (aliases as Aliases) : {}
}

/** The text with more aliases; undefined if a person has to add them. */
export function withAliases(text: string, added: Aliases): string | undefined {
  const names = Object.keys(added)
  if (names.length === 0) return text
  const lines = Object.entries(added)
    .map(([name, id]) => `${JSON.stringify(name)} = ${JSON.stringify(id)}\n`)
    .join('')
  const all = { ...rawAliases(text), ...added }
  const statements = statementsOf(text)
  const first = statements.findIndex(({ kind }) => kind !== 'pair')
  const top = first === -1 ? statements : statements.slice(0, first)
  const inline = top.find(({ name }) => name === 'aliases')
  const at = statements.findIndex(({ kind, name }) => kind === 'table' && name === 'aliases')
  let changed = `${text === '' ? '' : `${text.trimEnd()}\n\n`}[aliases]\n${lines}`
  if (inline) {
    changed = text.slice(0, inline.valueStart) + inlineTable(all) + text.slice(inline.valueEnd)
  } else if (at !== -1) {
    let end = at
    while (statements[end + 1]?.kind === 'pair') end++
    const behind = statements[end]?.end ?? text.length
    const lineBreak = text[behind - 1] === '\n' ? '' : '\n'
    changed = text.slice(0, behind) + lineBreak + lines + text.slice(behind)
  }
  return isSaying(changed, { ...read(text), aliases: all })
}

const inlineTable = (aliases: Aliases): string => {
  const pairs = Object.entries(aliases).map(([name, id]) => `${JSON.stringify(name)} = "${id}"`)
  return `{ ${pairs.join(', ')} }`
}

/**
 * The text with a larger number of keys for a plan of which it says nothing yet; undefined if a
 * person has to change what it says.
 */
export function withMaxKeys(text: string, plan: string, keys: number): string | undefined {
  const { plans } = read(text)
  const list = Array.isArray(plans) ? plans : []
  if (list.some((one) => one?.id === plan)) return undefined
  const entry = { id: plan, limits: { max_keys: BigInt(keys) } }
  const lines = `id = ${inlineText(plan)}\nlimits = ${inlineText(entry.limits)}\n`
  const changed = `${text === '' ? '' : `${text.trimEnd()}\n\n`}[[plans]]\n${lines}`
  return isSaying(changed, { ...read(text), plans: [...list, entry] })
}

function isSaying(text: string, expected: Record<string, unknown>): string | undefined {
  try {
    return stable(read(text)) === stable(expected) ? text : undefined
  } catch {
    return undefined
  }
}
