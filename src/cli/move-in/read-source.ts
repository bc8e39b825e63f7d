/** Reads the files or the database of another gateway, before anything is changed. */
import { existsSync, readFileSync } from 'node:fs'
import { type ExactJson, isExactObject, parseExactJson } from '../../kernel/exact-json.ts'
import {
  isSqliteFile,
  readForeignPostgres,
  readForeignSqlite,
} from '../../storage/db/files/foreign-tables.ts'
import { isAddress } from '../../verify/address.ts'
import { Exit, exitCodes } from '../context.ts'
import { type ExactTable, nothingFound, type SourceContents } from './found.ts'
import { readLitellmConfig } from './litellm-config.ts'
import { readLitellmKeys } from './litellm-keys.ts'
import { assertColumns, litellmTableOf, litellmTables } from './litellm-tables.ts'
import { oneApiTables, readOneApi } from './one-api.ts'
import { readOpenrouterFiles } from './openrouter.ts'
import {
  columnsIn,
  isSqlDump,
  type Row,
  readCsvTable,
  readSqlDump,
  rowsIn,
  rowsOf,
  type Tables,
  textOf,
} from './tables.ts'

export const gateways = ['litellm', 'new-api', 'one-api', 'openrouter'] as const
export type Gateway = (typeof gateways)[number]

/** The columns that make a row of a table the same. */
type Ids = { readonly [table: string]: readonly string[] }

/** @throws Exit 1 that names the file and the fault, and no word of what the file says */
export async function readSource(
  gateway: Gateway,
  places: readonly string[],
  now: number,
): Promise<SourceContents> {
  const all = shown(places)
  if (gateway === 'openrouter') {
    return told(all, gateway, () => readOpenrouterFiles(places.map(readText), now))
  }
  const parts: SourceContents[] = []
  const tables: Tables[] = []
  const ids: Ids = gateway === 'litellm' ? litellmTables : oneApiTables
  for (const place of places) {
    await told(shown([place]), gateway, async () => {
      const text = isDatabase(place) ? undefined : readText(place)
      if (gateway === 'litellm' && isConfig(text ?? '')) {
        parts.push(readLitellmConfig(text ?? '', process.env))
      } else tables.push(await tablesIn(place, text, ids))
    })
  }
  if (tables.length > 0) {
    const read = () => {
      const merged = mergedTables(tables, ids)
      return gateway === 'litellm' ? readLitellmKeys(merged, now) : readOneApi(merged, gateway, now)
    }
    parts.push(await told(all, gateway, read))
  }
  return mergedContents(parts)
}

/** A dump may hold the words of a configuration. */
const isConfig = (text: string): boolean =>
  !isSqlDump(text) && /^[ \t]*["']?model_list["']?[ \t]*:/m.test(text)

const isServer = (place: string): boolean => /^\w+:\/\//.test(place)

const isDatabase = (place: string): boolean =>
  isServer(place) || (existsSync(place) && isSqliteFile(place))

/** Names of places for people: of an address only its host. */
const shown = (places: readonly string[]): string =>
  places
    .map((place) => (isServer(place) ? `the database at ${URL.parse(place)?.hostname}` : place))
    .join(', ')

async function tablesIn(place: string, text: string | undefined, ids: Ids): Promise<Tables> {
  const names = Object.keys(ids)
  const tables = await anyTables(place, text, names)
  if (names.some((name) => tables.has(name))) return tables
  throw new Error(`it has none of the tables ${names.slice(0, 3).join(', ')}`)
}

async function anyTables(
  place: string,
  text: string | undefined,
  names: readonly string[],
): Promise<Tables> {
  if (isServer(place)) {
    if (/^postgres(ql)?:/.test(place)) return rowsOf(await readForeignPostgres(place, names))
    throw new Error('of servers only PostgreSQL is read: export the tables of others as JSON')
  }
  if (text === undefined) return rowsOf(readForeignSqlite(place, names))
  if (isSqlDump(text)) return readSqlDump(text)
  if (!/^\s*[[{]/.test(text)) {
    const { header, rows } = readCsvTable(text)
    return namelessTable(new Set(header), rows)
  }
  const json = parseExactJson(text)
  if (!isExactObject(json)) return namelessTable(columnsIn(json), rowsIn(json))
  // GET /key/list, /user/list and /team/list of LiteLLM name their lists so.
  const lists: [string, string][] = names.includes('tokens')
    ? []
    : [
        ['keys', 'LiteLLM_VerificationToken'],
        ['users', 'LiteLLM_UserTable'],
        ['teams', 'LiteLLM_TeamTable'],
      ]
  const all = [...lists, ...names.map((name): [string, string] => [name, name])]
  return new Map(
    all.flatMap(([member, name]) =>
      json[member] === undefined ? [] : [[name, namedRows(name, json[member])]],
    ),
  )
}

function namelessTable(columns: ReadonlySet<string>, rows: Row[]): Tables {
  const name = litellmTableOf(columns)
  if (name === undefined) return new Map()
  assertColumns(name, columns)
  return new Map([[name, rows]])
}

function namedRows(name: string, list: ExactJson): Row[] {
  const rows = rowsIn(list)
  if (rows.length > 0) assertColumns(name, columnsIn(list))
  return rows
}

/** @throws Error for one row that two places have otherwise */
function mergedTables(all: readonly Tables[], ids: Ids): Tables {
  const merged = new Map<string, Row[]>()
  for (const [name, columns] of Object.entries(ids)) {
    const rows = all.flatMap((tables) => tables.get(name) ?? [])
    const byId = new Map<string, Row>()
    for (const row of rows) {
      const id = columns.map((column) => textOf(row, column) ?? '').join(' ')
      if (id.trim() === '') throw new Error(`a row of ${name} has no ${columns[0]}`)
      const known = byId.get(id)
      if (known && contentOf(known) !== contentOf(row)) {
        // The id of a key may be its secret.
        const which = /token/i.test(name) ? 'a row' : `the row ${id.slice(0, 40)}`
        const why = `${which} of ${name} stands there twice, and differs`
        throw new Error(`${why}. Hand over one export at a time`)
      }
      byId.set(id, row)
    }
    if (all.some((tables) => tables.has(name))) merged.set(name, [...byId.values()])
  }
  return merged
}

const contentOf = (row: Row): string =>
  JSON.stringify([...row].sort(([a], [b]) => (a < b ? -1 : 1)))

function mergedContents(parts: readonly SourceContents[]): SourceContents {
  const all = nothingFound()
  for (const part of parts) {
    for (const { id, deployments } of part.models) {
      const known = all.models.find((model) => model.id === id)
      if (known) known.deployments.push(...deployments)
      else all.models.push({ id, deployments: [...deployments] })
    }
    all.owners.push(...part.owners)
    all.keys.push(...part.keys)
    all.spent.push(...part.spent)
    Object.assign(all.aliases, part.aliases)
    for (const secret of part.secrets) all.secrets.add(secret)
    for (const [why, list] of part.misfits) {
      all.misfits.set(why, [...new Set([...(all.misfits.get(why) ?? []), ...list])])
    }
  }
  return all
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @throws Error without the words of the file */
function readText(file: string): string {
  if (!existsSync(file)) throw new Error('there is no such file')
  try {
    return utf8.decode(readFileSync(file))
  } catch {
    throw new Error('it is not a text')
  }
}

/** @throws Exit 1 with the file, in place of any other error */
async function told<T>(file: string, of: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw new Exit(exitCodes.failed, `${file} cannot be read as ${of}: ${whyOf(error)}`)
  }
}

/** Only errors of these readers speak: those of others may repeat what they read. */
function whyOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON. Nothing was changed.'
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return `${code}. Nothing was changed.`
  const words = error instanceof Error ? error.message : 'it is of another form'
  return `${words.replace(/\.$/, '')}. Nothing was changed.`
}

/** The public price file of LiteLLM. @throws Exit 1 */
export const readPriceFile = (file: string): Promise<ExactTable> =>
  told(file, 'a price file', () => {
    const json = parseExactJson(readText(file))
    if (!isExactObject(json)) throw new Error('it is not an object of models by their ids')
    return json
  })

/** Accounts by ids of users, from a CSV with the columns user and address. @throws Exit 1 */
export const readMap = (file: string): Promise<Map<string, string>> =>
  told(file, 'a map of users', () => {
    const { header, rows } = readCsvTable(readText(file))
    if (!header.includes('user') || !header.includes('address')) {
      throw new Error('it needs the columns user and address')
    }
    const accounts = new Map<string, string>()
    for (const [at, row] of rows.entries()) {
      const [user, address] = [textOf(row, 'user'), textOf(row, 'address')?.trim()]
      if (user === undefined || address === undefined || !isAddress(address)) {
        throw new Error(`record ${at + 2} has no user with an address (0x and 40 hex digits)`)
      }
      if (accounts.has(user)) throw new Error(`"${user}" is named twice`)
      accounts.set(user, address.toLowerCase())
    }
    return accounts
  })
