/** Reads the SQLite database of new-api or one-api. */
import { closeSync, openSync, readSync } from 'node:fs'
import { type Decimal, parseDecimal } from '../../kernel/decimal.ts'
import { NumberText } from '../../kernel/exact-json.ts'
import { connect } from '../../storage/db/engine/connection.ts'
import type { ExactTable, FoundKey, SourceContents } from './found.ts'
import { addMisfit, nothingFound, toNusd } from './found.ts'
import { addChannels, type GatewayKind, tableIn } from './one-api-channels.ts'
import { isTrue, type Row, textOf } from './tables.ts'

const queries = {
  channels: 'SELECT * FROM channels',
  users: 'SELECT * FROM users',
  tokens: 'SELECT * FROM tokens',
  abilities: 'SELECT * FROM abilities',
  options: 'SELECT * FROM options',
} as const

/** @throws Error when it is not such a database */
export function readOneApi(file: string, kind: GatewayKind, now: number): SourceContents {
  const tables = tablesIn(file)
  const found = nothingFound()
  const options = new Map(tables.options.map((row) => [textOf(row, 'key') ?? '', row]))
  const perUnit = unitOf(options.get('QuotaPerUnit'))
  const table = (name: string): ExactTable => {
    const row = options.get(name)
    return row ? tableIn(row, 'value') : {}
  }
  const ratios = {
    ...{ model: table('ModelRatio'), completion: table('CompletionRatio') },
    ...{ cache: table('CacheRatio'), price: table('ModelPrice') },
  }
  addChannels(found, tables.channels, {
    ...{ kind, abilities: tables.abilities, pricing: { ratios, perUnit } },
  })
  for (const [group, ratio] of Object.entries(table('GroupRatio'))) {
    if (!(ratio instanceof NumberText && Number(ratio.text) === 1)) {
      addMisfit(found.misfits, 'a group with a ratio of its own: use plans', group)
    }
  }
  const quotaIn = (row: Row, name: string) => toNusd(times(perUnit, textOf(row, name) ?? '0'))
  const users = tables.users.filter((row) => textOf(row, 'deleted_at') === undefined)
  for (const row of users) addUser(found, row, quotaIn)
  const known = new Set(found.owners.map(({ id }) => id))
  for (const row of tables.tokens) {
    if (textOf(row, 'deleted_at') !== undefined) continue
    addToken(found, row, { quotaIn, now, known })
  }
  const owning = new Set(found.keys.map(({ owner }) => owner))
  found.owners = found.owners.filter(({ id, balance }) => balance !== 0n || owning.has(id))
  return found
}

/** The first bytes of a SQLite file. */
const magic = 'SQLite format 3\0'

/** @throws Error when it cannot be read as one */
function tablesIn(file: string): Record<keyof typeof queries, Row[]> {
  const head = Buffer.alloc(magic.length)
  const opened = openSync(file, 'r')
  readSync(opened, head)
  closeSync(opened)
  if (head.toString('latin1') !== magic) throw new Error('it is not a SQLite database')
  const raw = connect(file, { readonly: true })
  try {
    const read = (query: string): Row[] =>
      (raw.query(query).all() as Record<string, unknown>[]).map(
        (row) =>
          new Map(
            Object.entries(row)
              .filter(([, value]) => value !== null)
              .map(([name, value]) => [name, String(value)]),
          ),
      )
    return {
      ...{ channels: read(queries.channels), users: read(queries.users) },
      ...{ tokens: read(queries.tokens), abilities: read(queries.abilities) },
      options: read(queries.options),
    }
  } finally {
    raw.close()
  }
}

/** Dollars of one unit of quota: 1 / 500,000 unless the options say otherwise. */
function unitOf(option: Row | undefined): Decimal {
  const text = (option && textOf(option, 'value')) ?? '500000'
  const units = Number(text)
  if (!Number.isInteger(units) || units < 1)
    throw new Error(`QuotaPerUnit "${text}" is not a number of units`)
  // Exact for every number of units that divides a power of ten, as 500,000 does.
  const places = 18
  return { digits: 10n ** BigInt(places) / BigInt(units), scale: places }
}

/** @throws Error for something else than a whole number */
function times(unit: Decimal, text: string): Decimal {
  const count = parseDecimal(text)
  if (count?.scale !== 0) throw new Error(`"${text}" is not a quota`)
  return { digits: unit.digits * count.digits, scale: unit.scale }
}

type ReadQuota = (row: Row, name: string) => bigint

function addUser(found: SourceContents, row: Row, quotaIn: ReadQuota): void {
  const id = textOf(row, 'id') ?? ''
  const name = textOf(row, 'username') ?? id
  const balance = quotaIn(row, 'quota')
  if (textOf(row, 'status') !== '1') {
    if (balance !== 0n)
      addMisfit(found.misfits, 'a user is disabled: its balance stays there', name)
    return
  }
  const emails = ['email', 'display_name'].flatMap((column) => textOf(row, column) ?? [])
  found.owners.push({
    ...{ id: `user/${id}`, names: [name, id, ...emails], balance, hasParent: true },
    ...{ spent: quotaIn(row, 'used_quota'), createdAt: secondsIn(row, 'created_time') },
  })
}

type TokenContext = { quotaIn: ReadQuota; now: number; known: ReadonlySet<string> }

function addToken(found: SourceContents, row: Row, { quotaIn, now, known }: TokenContext): void {
  const id = textOf(row, 'id') ?? ''
  const name = textOf(row, 'name') ?? `token ${id}`
  const owner = `user/${textOf(row, 'user_id')}`
  const until = textOf(row, 'expired_time')
  const expiresAt = until === undefined || until === '-1' ? undefined : Number(until) * 1000
  const isExpired = expiresAt !== undefined && expiresAt <= now
  // Status 4 is a token without quota left: it can be given a larger cap here.
  const isOff = !['1', '4'].includes(textOf(row, 'status') ?? '')
  if (isOff || isExpired || !known.has(owner)) {
    const why = isExpired ? 'it has expired' : isOff ? 'it is disabled' : 'it has no user'
    addMisfit(found.misfits, `a key: ${why}`, name)
    return
  }
  if ((textOf(row, 'group') ?? 'default') !== 'default') {
    addMisfit(found.misfits, 'the group of a key', name)
  }
  const cap = isTrue(row, 'unlimited_quota') ? undefined : quotaIn(row, 'remain_quota')
  const key: FoundKey = {
    ...{ id: `key/${id}`, name, owner, cap, window: 'lifetime', expiresAt },
    ...{ spent: quotaIn(row, 'used_quota'), createdAt: secondsIn(row, 'created_time') },
    ...{ models: modelsOf(row), networks: networksOf(row), rpm: undefined, concurrency: undefined },
  }
  found.keys.push(key)
}

const split = (text: string | undefined): string[] =>
  (text ?? '')
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** new-api has limits that can be off; in one-api the list is the limit. */
function modelsOf(row: Row): string[] {
  if (row.has('model_limits_enabled')) {
    return isTrue(row, 'model_limits_enabled') ? split(textOf(row, 'model_limits')) : []
  }
  return split(textOf(row, 'models'))
}

const networksOf = (row: Row): string[] => split(textOf(row, 'allow_ips') ?? textOf(row, 'subnet'))

function secondsIn(row: Row, name: string): number | undefined {
  const seconds = Number(textOf(row, name) ?? 0)
  return seconds > 0 ? seconds * 1000 : undefined
}
