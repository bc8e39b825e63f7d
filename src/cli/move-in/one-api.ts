/** Reads the tables of new-api or one-api. */
import { parseDecimal } from '../../kernel/decimal.ts'
import { isExactObject, NumberText } from '../../kernel/exact-json.ts'
import type { Nusd } from '../../kernel/money.ts'
import {
  addMisfit,
  type ExactTable,
  type FoundKey,
  type FoundState,
  floorDiv,
  nothingFound,
  type SourceContents,
} from './found.ts'
import { addChannels, type GatewayKind } from './one-api-channels.ts'
import { isTrue, jsonIn, type Row, type Tables, textOf } from './tables.ts'

/** The tables that are read, each with the columns that make a row the same. */
export const oneApiTables = {
  channels: ['id'],
  users: ['id'],
  tokens: ['id'],
  abilities: ['group', 'model', 'channel_id'],
  options: ['key'],
} as const

/** @throws Error when a row cannot be read */
export function readOneApi(tables: Tables, kind: GatewayKind, now: number): SourceContents {
  const rows = (name: keyof typeof oneApiTables) => tables.get(name) ?? []
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
  for (const row of rows('users')) addUser(found, row, quotaIn)
  const known = new Set(found.owners.map(({ id }) => id))
  for (const row of rows('tokens')) addToken(found, row, { quotaIn, now, known })
  return found
}

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
function wholeIn(row: Row, name: string, usual = '0'): bigint {
  const count = parseDecimal(textOf(row, name) ?? usual)
  if (count?.scale !== 0) throw new Error(`${name} of a row is not a whole number`)
  return count.digits
}

type ReadQuota = (row: Row, name: string) => bigint

/** @throws Error without one: rows are told apart by it alone */
function idIn(row: Row, table: string): string {
  const id = textOf(row, 'id')
  if (id === undefined) throw new Error(`a row of ${table} has no id`)
  return id
}

function addUser(found: SourceContents, row: Row, quotaIn: ReadQuota): void {
  const id = idIn(row, 'users')
  for (const column of ['password', 'access_token']) note(found, textOf(row, column))
  const status = textOf(row, 'status')
  const isGone = textOf(row, 'deleted_at') !== undefined || status === '3'
  const state: FoundState = isGone
    ? { is: 'gone', why: 'its user is deleted' }
    : status === '1'
      ? { is: 'on' }
      : { is: 'off', why: 'its user is disabled' }
  found.owners.push({
    ...{ id: `user/${id}`, name: textOf(row, 'username') ?? `user ${id}`, state },
    ...{ balance: quotaIn(row, 'quota'), spent: quotaIn(row, 'used_quota'), renewed: undefined },
    ...{ models: undefined, rpm: undefined, concurrency: undefined },
  })
}

const note = ({ secrets }: SourceContents, secret: string | undefined): void => {
  if (secret !== undefined) secrets.add(secret)
}

type TokenContext = { quotaIn: ReadQuota; now: number; known: ReadonlySet<string> }

function addToken(found: SourceContents, row: Row, { quotaIn, now, known }: TokenContext) {
  const id = idIn(row, 'tokens')
  note(found, textOf(row, 'key'))
  const name = textOf(row, 'name') ?? `token ${id}`
  const owner = `user/${textOf(row, 'user_id')}`
  if (!known.has(owner)) return addMisfit(found.misfits, 'a key without a user', `key/${id}`)
  if (!['default', undefined].includes(textOf(row, 'group'))) {
    addMisfit(found.misfits, 'the group of a key', `key/${id}`)
  }
  const expiresAt = expiryOf(row)
  const models = modelsOf(row)
  const key: FoundKey = {
    ...{ id: `key/${id}`, name, owner, window: 'lifetime', expiresAt, models },
    cap: isTrue(row, 'unlimited_quota') ? undefined : quotaIn(row, 'remain_quota'),
    ...{ spent: quotaIn(row, 'used_quota'), networks: networksOf(row) },
    ...{ rpm: undefined, concurrency: undefined, state: stateOf(row, models, expiresAt, now) },
  }
  found.keys.push(key)
}

/** @throws Error for something else than whole seconds */
function expiryOf(row: Row): number | undefined {
  const seconds = Number(wholeIn(row, 'expired_time', '-1'))
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
function modelsOf(row: Row): string[] | undefined {
  const isNew = row.has('model_limits_enabled')
  if (isNew && !isTrue(row, 'model_limits_enabled')) return undefined
  const list = split(textOf(row, isNew ? 'model_limits' : 'models'))
  if (!isNew && list.length === 0) return undefined
  return list.filter((name) => !name.includes('*'))
}

const networksOf = (row: Row): string[] => split(textOf(row, 'allow_ips') ?? textOf(row, 'subnet'))
