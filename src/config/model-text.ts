/** Changes and adds `[[models]]` in the text of a configuration file; the rest stays as it is. */
import { parse } from 'smol-toml'
import { makeCatalogue } from '../models/catalogue.ts'
import { faultsOf } from '../models/model-config.ts'
import type { ModelEntry, TomlTable, TomlValue } from '../models/price-files/price-entry.ts'
import { withoutDisabled } from './disabled-upstreams.ts'
import { readModels } from './model-entries.ts'
import { planLosses, readPlans } from './plan-entries.ts'
import { itemsOf, type Statement, statementsOf } from './toml-statements.ts'

/** The changes in the entry of a model. */
export type ModelChange = { id: string; set: TomlTable; remove: readonly string[] }

/** The models of a file as it writes them. @throws TomlError */
export function rawModels(text: string): ModelEntry[] {
  const { models } = read(text)
  return Array.isArray(models) ? (models as ModelEntry[]) : []
}

/**
 * The text with the changes, its comments and its order; undefined if it cannot be changed safely
 * and a person has to do it. What it says is compared with what it should say.
 */
export function withModels(
  text: string,
  changes: readonly ModelChange[],
  added: readonly ModelEntry[],
): string | undefined {
  let changed = text
  for (const change of changes) {
    const next = withChange(changed, change)
    if (next === undefined) return undefined
    changed = next
  }
  for (const entry of added) changed = `${changed.trimEnd()}\n\n${entryText(entry)}`
  const byId = new Map(changes.map((change) => [change.id, change]))
  const models = rawModels(text).map((entry) => applied(entry, byId.get(entry.id)))
  const expected = { ...read(text), models: [...models, ...added] }
  try {
    return stable(read(changed)) === stable(expected) ? changed : undefined
  } catch {
    return undefined
  }
}

/** The text with an upstream behind its end; undefined if a person has to add it. */
export function withUpstream(text: string, entry: TomlTable): string | undefined {
  const pairs = Object.entries(entry).map(([name, value]) => `${name} = ${inlineText(value)}\n`)
  const changed = `${text === '' ? '' : `${text.trimEnd()}\n\n`}[[upstreams]]\n${pairs.join('')}`
  const before = read(text)
  const upstreams = Array.isArray(before['upstreams']) ? before['upstreams'] : []
  try {
    const isRight =
      stable(read(changed)) === stable({ ...before, upstreams: [...upstreams, entry] })
    return isRight ? changed : undefined
  } catch {
    return undefined
  }
}

/** The text with a change of an upstream; undefined if a person has to do it. */
export const withUpstreamChange = (text: string, change: ModelChange): string | undefined =>
  withListChange(text, change, 'upstreams')

/** The text with a change of a plan; undefined if a person has to do it. */
export const withPlanChange = (text: string, change: ModelChange): string | undefined =>
  withListChange(text, change, 'plans')

function withListChange(text: string, change: ModelChange, list: ListName): string | undefined {
  const changed = withChange(text, change, list)
  if (changed === undefined) return undefined
  const entries = rawList(text, list).map((entry) =>
    applied(entry, entry['id'] === change.id ? change : undefined),
  )
  try {
    return stable(read(changed)) === stable({ ...read(text), [list]: entries })
      ? changed
      : undefined
  } catch {
    return undefined
  }
}

/** The upstreams of a file as it writes them. @throws TomlError */
export const rawUpstreams = (text: string): TomlTable[] => rawList(text, 'upstreams')

function rawList(text: string, list: ListName): TomlTable[] {
  const entries = read(text)[list]
  return Array.isArray(entries) ? (entries as TomlTable[]) : []
}

/** Returns the errors in the models of a file, and of discounts that sell them below cost. */
export function faultsIn(text: string): string[] {
  const { models: raw, upstreams, plans: rawPlans } = read(text)
  const problems: string[] = []
  const models = readModels(raw, problems)
  const served = Array.isArray(upstreams) ? upstreams : []
  const upstreamIds = served.map((one) => String(one?.id))
  const faults = [...problems, ...faultsOf({ models, upstreamIds })]
  if (faults.length > 0) return faults
  // Faults of plans themselves are not of the models.
  const plans = readPlans(rawPlans, [])
  const left = withoutDisabled(models, served)
  return planLosses(plans, makeCatalogue({ models: left, upstreamIds }).list())
}

const read = (text: string): Record<string, unknown> =>
  parse(text, { integersAsBigInt: true, unsafeKeyBehaviour: 'throw' })

function applied(entry: TomlTable, change: ModelChange | undefined): TomlTable {
  if (!change) return entry
  const kept = Object.entries(entry).filter(([name]) => !change.remove.includes(name))
  return { ...Object.fromEntries(kept), ...change.set }
}

/** JSON with sorted keys, so that equal values give equal texts. */
export function stable(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === 'bigint') return `${one}n`
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one
    if (Object.getPrototypeOf(one) !== Object.prototype && one instanceof Date) return one
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** Lists of tables that get headers of their own. */
const subLists = ['bands', 'tiers'] as const
const isSubList = (name: string): name is (typeof subLists)[number] =>
  subLists.some((one) => one === name)

type Edit = { start: number; end: number; text: string }

function withChange(
  text: string,
  { id, set, remove }: ModelChange,
  list: ListName = 'models',
): string | undefined {
  const block = blockOf(text, id, list)
  if (!block) return undefined
  const { entry, pairs, lists, end } = block
  const edits: Edit[] = []
  const fresh: string[] = []
  let last = ''
  for (const name of [...remove, ...Object.keys(set)]) {
    const pair = pairs.find((one) => one.name === name)
    const value = set[name]
    const isInline = value !== undefined && !isSubList(name)
    for (const part of lists.filter((one) => one.name === `${list}.${name}`)) {
      edits.push({ start: part.start, end: part.end, text: '' })
    }
    if (pair && isInline) {
      edits.push(...valueEdits(text, pair, { old: entry[name], fresh: value }))
    } else if (pair) edits.push({ start: pair.start, end: pair.end, text: '' })
    else if (isInline) fresh.push(`${name} = ${inlineText(value)}\n`)
    if (value !== undefined && !isInline) last += `\n${listText(name, value)}`
  }
  const behind = pairs.at(-1)?.end ?? block.headerEnd
  const breakBefore = text[behind - 1] === '\n' ? '' : '\n'
  if (fresh.length > 0) {
    edits.push({ start: behind, end: behind, text: breakBefore + fresh.join('') })
  }
  if (last !== '') {
    edits.push({ start: end, end, text: (text[end - 1] === '\n' ? '' : '\n') + last })
  }
  return applyEdits(text, edits)
}

/** Edits only the differing items of a list of the same length: comments between them stay. */
function valueEdits(
  text: string,
  { valueStart: start, valueEnd: end }: Statement,
  { old, fresh }: { old: TomlValue | undefined; fresh: TomlValue },
): Edit[] {
  const whole = [{ start, end, text: inlineText(fresh) }]
  if (!Array.isArray(old) || !Array.isArray(fresh) || old.length !== fresh.length) return whole
  const items = itemsOf(text, start, end)
  if (items.length !== fresh.length) return whole
  return items.flatMap((item, i) =>
    stable(old[i]) === stable(fresh[i]) ? [] : [{ ...item, text: inlineText(fresh[i] ?? '') }],
  )
}

/**
 * From the last to the first, so that places stay right. Of one place the one that removes most
 * goes first, or it would remove what another has put there; then the later one.
 */
function applyEdits(text: string, edits: readonly Edit[]): string {
  const ordered = edits
    .map((edit, at) => ({ ...edit, at }))
    .sort((a, b) => b.start - a.start || b.end - a.end || b.at - a.at)
  return ordered.reduce(
    (changed, edit) => changed.slice(0, edit.start) + edit.text + changed.slice(edit.end),
    text,
  )
}

type List = { name: string; start: number; end: number }
/** The lists whose entries are changed in place. */
type ListName = 'models' | 'upstreams' | 'plans'

type Block = {
  entry: TomlTable
  headerEnd: number
  pairs: Statement[]
  lists: List[]
  end: number
}

/** The position of an entry of a list: its pairs, its tables such as `[[models.…]]`, its end. */
function blockOf(text: string, id: string, list: ListName): Block | undefined {
  const statements = statementsOf(text)
  let nth = -1
  const entries = rawList(text, list)
  const wanted = entries.findIndex((one) => one['id'] === id)
  const entry = entries[wanted]
  const from = statements.findIndex(
    ({ kind, name }) => kind === 'list' && name === list && ++nth === wanted,
  )
  const header = statements[from]
  if (!header || !entry) return undefined
  const block: Block = { entry, headerEnd: header.end, pairs: [], lists: [], end: header.end }
  for (const statement of statements.slice(from + 1)) {
    const { kind, name, start, end } = statement
    if (kind !== 'pair' && !name.startsWith(`${list}.`)) break
    const part = block.lists.at(-1)
    if (kind !== 'pair') block.lists.push({ name, start, end })
    else if (part) part.end = end
    else block.pairs.push(statement)
    block.end = end
  }
  return block
}

/** An entry as the file has it. */
export function entryText(entry: ModelEntry): string {
  const pairs = Object.entries(entry).filter(([name]) => !isSubList(name))
  const own = pairs.map(([name, value]) => `${name} = ${inlineText(value)}\n`).join('')
  const lists = subLists.flatMap((name) => {
    const value = entry[name]
    return value === undefined ? [] : [listText(name, value)]
  })
  return `[[models]]\n${own}${lists.join('')}`
}

const listText = (name: string, list: TomlValue): string =>
  (Array.isArray(list) ? (list as TomlTable[]) : [])
    .map((table) => {
      const pairs = Object.entries(table).map(([key, value]) => `${key} = ${inlineText(value)}\n`)
      return `[[models.${name}]]\n${pairs.join('')}`
    })
    .join('')

export function inlineText(value: TomlValue): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'bigint') return String(value).replace(/\B(?=(\d{3})+$)/g, '_')
  if (Array.isArray(value)) {
    return `[${(value as readonly TomlValue[]).map(inlineText).join(', ')}]`
  }
  const pairs = Object.entries(value).map(([name, one]) => `${name} = ${inlineText(one)}`)
  return `{ ${pairs.join(', ')} }`
}
