/** Reads the tables of new-api or one-api. */
import { parseDecimal } from '../../kernel/decimal.ts'
import { isExactObject, NumberText } from '../../kernel/exact-json.ts'
import type { Nusd } from '../../kernel/money.ts'
import {
  addMisfit,
  type ExactTable,
  type FoundState,
  floorDiv,
  nothingFound,
  type SourceContents,
} from './found.ts'
import { addChannels, type GatewayKind } from './one-api-channels.ts'
import { type Columns, isTrue, jsonIn, type Row, type Tables, textOf } from './tables.ts'

/** The tables that are read, each with the columns that make a row the same. */
export const oneApiTables = {
  channels: ['id'],
  users: ['id'],
  tokens: ['id'],
  abilities: ['group', 'model', 'channel_id'],
  options: ['key'],
} as const

const ofTokens = ['id', 'user_id', 'status', 'expired_time', 'remain_quota', 'unlimited_quota']

/** Columns that limit, or tell an amount. */
export const oneApiColumns: Record<GatewayKind, Columns> = {
  'new-api': {
    tokens: [
      ...[...ofTokens, 'model_limits_enabled', 'model_limits', 'allow_ips', 'group'],
      'deleted_at',
    ],
    users: ['id', 'status', 'quota', 'group', 'deleted_at'],
    channels: ['id', 'type', 'status', 'models', 'group'],
    abilities: ['group', 'model', 'channel_id', 'enabled'],
    options: ['key', 'value'],
  },
  'one-api': {
    tokens: [...ofTokens, 'models', 'subnet'],
    users: ['id', 'status', 'quota', 'group'],
    channels: ['id', 'type', 'status', 'models', 'group'],
    abilities: ['group', 'model', 'channel_id', 'enabled'],
    options: ['key', 'value'],
  },
}

/** @throws Error when a row cannot be read, or a table is missing that says what others mean */
export function readOneApi(tables: Tables, kind: GatewayKind, now: number): SourceContents {
  const rows = (name: keyof typeof oneApiTables) => tables.get(name) ?? []
  assertWhole(tables, kind)
  const found = nothingFound()
  const options = new Map(rows('options').map((row) => [textOf(row, 'key') ?? '', row]))
  const perUsd = unitsOf(options.get('QuotaPerUnit'))
  const table = (name: string): ExactTable => {
    const row = options.get(name)
    const json = row ? jsonIn(row, 'value') : undefined
    return isExactObject(json) ? json : {}
  }
  const ratios = {
    ...{ model: table('ModelRatio'), completion: table('CompletionRatio') },
    ...{ cache: table('CacheRatio'), price: table('ModelPrice') },
  }
  addChannels(found, rows('channels'), {
    ...{ kind, abilities: rows('abilities'), pricing: { ratios, perUsd } },
  })
  for (const [group, ratio] of Object.entries(table('GroupRatio'))) {
    if (!(ratio instanceof NumberText && Number(ratio.text) === 1)) {
      addMisfit(found.misfits, 'a group with a ratio of its own: use plans', group)
    }
  }
  const quotaIn = (row: Row, name: string): Nusd =>
    floorDiv(wholeIn(row, name) * 1_000_000_000n, perUsd)
  const modelsIn = modelsByGroup(rows('channels'), rows('abilities'))
  const context = { quotaIn, modelsIn, kind, now }
  for (const row of rows('users')) addUser(found, row, context)
  const groups = new Map(rows('users').map((row) => [ownerOf(row, 'id'), textOf(row, 'group')]))
  for (const row of rows('tokens')) addToken(found, row, { ...context, groups })
  return found
}

/** The tables that say how many units a dollar has, and which models a group may use. */
function assertWhole(tables: Tables, kind: GatewayKind): void {
  if (!tables.has('users') && !tables.has('tokens')) return
  const missing = (['users', 'channels', 'options'] as const).filter((name) => !tables.has(name))
  if (missing.length > 0) throw new Error(`it lacks ${missing.join(', ')}: hand them over whole`)
  if (tables.get('channels')?.length === 0) {
    throw new Error('its channels are empty, which say what its users may call: hand them over')
  }
  const isNew = tables.get('tokens')?.some((row) => row.has('model_limits_enabled'))
  if (kind === 'one-api' && isNew) throw new Error('its tokens are of new-api: name it so')
}

/** The models of each group, undefined for a group that may use all models of all groups. */
function modelsByGroup(
  channels: readonly Row[],
  abilities: readonly Row[],
): (group: string) => string[] | undefined {
  const groups = new Map<string, Set<string>>()
  const all = new Set<string>()
  const add = (group: string, model: string): void => {
    groups.set(group, (groups.get(group) ?? new Set()).add(model))
    all.add(model)
  }
  for (const row of abilities.filter((one) => isTrue(one, 'enabled'))) {
    add(textOf(row, 'group') ?? '', textOf(row, 'model') ?? '')
  }
  for (const row of abilities.length > 0 ? [] : channels) {
    if (textOf(row, 'status') !== '1') continue
    for (const group of split(textOf(row, 'group') ?? usualGroup)) {
      for (const model of split(textOf(row, 'models'))) add(group, model)
    }
  }
  return (group) => {
    const own = groups.get(group) ?? new Set()
    const isAll = all.size > 0 && own.size === all.size
    return isAll ? undefined : [...own].filter((name) => !name.includes('*'))
  }
}

const usualGroup = 'default'

/** Units of quota of a dollar: 500,000 unless the options say otherwise. */
function unitsOf(option: Row | undefined): bigint {
  const units = parseDecimal((option && textOf(option, 'value')) ?? '500000')
  const whole = units && floorDiv(units.digits, 10n ** BigInt(Math.max(units.scale, 0)))
  const isWhole = units && units.scale >= 0 && whole && whole * 10n ** BigInt(units.scale)
  if (!whole || whole < 1n || isWhole !== units?.digits) {
    throw new Error('QuotaPerUnit of its options is not a whole number of units')
  }
  return whole
}

/** @throws Error for something else than a whole number */
function wholeIn(row: Row, name: string): bigint {
  const count = parseDecimal(textOf(row, name) ?? '0')
  if (count?.scale !== 0) throw new Error(`${name} of a row is not a whole number`)
  return count.digits
}

/** @throws Error without one: rows are told apart by it alone */
function idIn(row: Row, table: string): string {
  const id = textOf(row, 'id')
  if (id === undefined) throw new Error(`a row of ${table} has no id`)
  return id
}

const ownerOf = (row: Row, column: string): string => `user/${textOf(row, column)}`

type Context = {
  quotaIn(row: Row, name: string): Nusd
  modelsIn(group: string): string[] | undefined
  kind: GatewayKind
  now: number
}

function addUser(found: SourceContents, row: Row, { quotaIn, modelsIn }: Context): void {
  const id = idIn(row, 'users')
  for (const column of ['password', 'access_token']) note(found, textOf(row, column))
  const status = textOf(row, 'status')
  const isGone = textOf(row, 'deleted_at') !== undefined || status === '3'
  const models = modelsIn(textOf(row, 'group') ?? usualGroup)
  const state: FoundState = isGone
    ? { is: 'gone', why: 'its user is deleted' }
    : status !== '1'
      ? { is: 'off', why: 'its user is disabled' }
      : models?.length === 0
        ? { is: 'off', why: 'the group of its user has no model' }
        : { is: 'on' }
  found.owners.push({
    ...{ id: `user/${id}`, name: textOf(row, 'username') ?? `user ${id}`, state, models },
    ...{ balance: quotaIn(row, 'quota'), spent: quotaIn(row, 'used_quota') },
    ...{ rpm: undefined, concurrency: undefined },
  })
}

const note = ({ secrets }: SourceContents, secret: string | undefined): void => {
  if (secret !== undefined) secrets.add(secret)
}

type TokenContext = Context & { groups: ReadonlyMap<string, string | undefined> }

function addToken(found: SourceContents, row: Row, context: TokenContext): void {
  const { quotaIn, modelsIn, kind, groups } = context
  const id = idIn(row, 'tokens')
  note(found, textOf(row, 'key'))
  const owner = ownerOf(row, 'user_id')
  const expiresAt = expiryOf(row)
  const group = kind === 'new-api' ? textOf(row, 'group') : undefined
  if (group !== undefined && group !== groups.get(owner)) {
    addMisfit(found.misfits, 'the group of a key', `key/${id}`)
  }
  // The group auto is each that its user may use: the models of the user's own hold.
  const ofGroup = group === undefined || group === 'auto' ? undefined : modelsIn(group)
  const own = modelsOf(row, kind)
  const models = own && ofGroup ? own.filter((name) => ofGroup.includes(name)) : (own ?? ofGroup)
  const state = groups.has(owner)
    ? stateOf(row, models, expiresAt, context.now)
    : ({ is: 'off', why: 'its user is not there' } as const)
  found.keys.push({
    ...{ id: `key/${id}`, name: textOf(row, 'name') ?? `token ${id}`, owner, window: 'lifetime' },
    ...{ expiresAt, models, networks: networksOf(row, kind), state },
    cap: isTrue(row, 'unlimited_quota') ? undefined : quotaIn(row, 'remain_quota'),
    ...{ spent: quotaIn(row, 'used_quota'), rpm: undefined, concurrency: undefined },
  })
}

/** @throws Error for something else than whole seconds */
function expiryOf(row: Row): number | undefined {
  const seconds = Number(wholeIn(row, 'expired_time'))
  return seconds === -1 ? undefined : seconds * 1000
}

function stateOf(
  row: Row,
  models: readonly string[] | undefined,
  expiresAt: number | undefined,
  now: number,
): FoundState {
  const status = textOf(row, 'status') ?? ''
  if (textOf(row, 'deleted_at') !== undefined) return { is: 'gone', why: 'it is deleted' }
  if (status === '3' || (expiresAt !== undefined && expiresAt <= now)) {
    return { is: 'off', why: 'it has expired' }
  }
  // Status 4 is a token without quota left; one that has some is off until it is switched on again.
  const isSpent = !isTrue(row, 'unlimited_quota') && wholeIn(row, 'remain_quota') <= 0n
  if (status === '4' && !isSpent) return { is: 'off', why: 'its quota was used up' }
  if (status !== '1' && status !== '4') return { is: 'off', why: 'it is disabled' }
  return models?.length === 0 ? { is: 'off', why: 'it allows no model' } : { is: 'on' }
}

const split = (text: string | undefined): string[] =>
  (text ?? '')
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/**
 * In new-api limits can be on and empty; in one-api an empty list limits nothing. An asterisk is a
 * letter of a name there, and would allow every model here.
 */
function modelsOf(row: Row, kind: GatewayKind): string[] | undefined {
  const isNew = kind === 'new-api'
  if (isNew && !isTrue(row, 'model_limits_enabled')) return undefined
  const list = split(textOf(row, isNew ? 'model_limits' : 'models'))
  if (!isNew && list.length === 0) return undefined
  return list.filter((name) => !name.includes('*'))
}

const networksOf = (row: Row, kind: GatewayKind): string[] =>
  split(textOf(row, kind === 'new-api' ? 'allow_ips' : 'subnet'))
