/** Raises a limit of a plan in the text of a configuration file; the rest stays as it is. */
import { parse } from 'smol-toml'
import type { TomlTable } from '../models/price-files/price-entry.ts'
import { inlineText, stable, withPlanChange } from './model-text.ts'

const read = (text: string): TomlTable =>
  parse(text, { integersAsBigInt: true, unsafeKeyBehaviour: 'throw' }) as TomlTable

/** The text with room for more keys in a plan; undefined if a person has to write it. */
export function withMaxKeys(text: string, plan: string, keys: number): string | undefined {
  const { plans } = read(text)
  const list = (Array.isArray(plans) ? plans : []) as TomlTable[]
  const before = list.find((one) => one['id'] === plan)
  if (before) {
    const limits = { ...(before['limits'] as TomlTable | undefined), max_keys: BigInt(keys) }
    return withPlanChange(text, { id: plan, set: { limits }, remove: [] })
  }
  const entry = { id: plan, limits: { max_keys: BigInt(keys) } }
  const lines = `id = ${inlineText(plan)}\nlimits = ${inlineText(entry.limits)}\n`
  const changed = `${text === '' ? '' : `${text.trimEnd()}\n\n`}[[plans]]\n${lines}`
  try {
    const expected = { ...read(text), plans: [...list, entry] }
    return stable(read(changed)) === stable(expected) ? changed : undefined
  } catch {
    return undefined
  }
}
