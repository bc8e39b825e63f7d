/** Reads the files or the database of another gateway, before anything is changed. */
import { existsSync, readFileSync } from 'node:fs'
import {
  type ExactJson,
  isExactObject,
  NumberText,
  parseExactJson,
} from '../../kernel/exact-json.ts'
import { redact } from '../../kernel/redact.ts'
import {
  isSqliteFile,
  readForeignPostgres,
  readForeignSqlite,
} from '../../storage/db/files/foreign-tables.ts'
import { isAddress } from '../../verify/address.ts'
import { readCsv } from '../../verify/csv-records.ts'
import { Exit, exitCodes } from '../context.ts'
import { parseExactYaml } from './exact-yaml.ts'
import { type ExactTable, nothingFound, type SourceContents } from './found.ts'
import { readLitellmConfig } from './litellm-config.ts'
import { readLitellmKeys } from './litellm-keys.ts'
import { assertLiving, litellmColumns, litellmTableOf, litellmTables } from './litellm-tables.ts'
import { oneApiColumns, oneApiTables, readOneApi } from './one-api.ts'
import { readOpenrouterFiles } from './openrouter.ts'
import {
  assertColumns,
  type Columns,
  isSqlDump,
  oneOf,
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

export type SourceWish = {
  gateway: Gateway
  /** The schema of the tables, where a database has them in several. */
  schema?: string | undefined
  now: number
}

/** @throws Exit 1 that names the file and the fault, and no word of what the file says */
export async function readSource(
  places: readonly string[],
  { gateway, schema, now }: SourceWish,
): Promise<SourceContents> {
  const all = shown(places)
  if (gateway === 'openrouter') {
    return told(all, gateway, () => readOpenrouterFiles(places.map(readText), now))
  }
  const isLitellm = gateway === 'litellm'
  const ids: Columns = isLitellm ? litellmTables : oneApiTables
  const needed = isLitellm ? litellmColumns : oneApiColumns[gateway]
  const parts: SourceContents[] = []
  const tables: Tables[] = []
  for (const place of places) {
    await told(shown([place]), gateway, async () => {
      const read = await readPlace(place, { names: Object.keys(ids), isLitellm, schema })
      if ('config' in read) return void parts.push(readLitellmConfig(read.config, process.env))
      assertColumns(read.tables, needed)
      tables.push(read.tables)
    })
  }
  if (tables.length > 0) {
    const read = () => {
      const merged = mergedTables(tables, ids)
      return isLitellm ? readLitellmKeys(merged, now) : readOneApi(merged, gateway, now)
    }
    parts.push(await told(all, gateway, read))
  }
  return mergedContents(parts)
}

const isServer = (place: string): boolean => /^postgres(ql)?:\/\//.test(place)

/**
 * Names of places for people. Addresses of databases have many forms, most with a password: a text
 * is shown only if it is a file that is there, and of an address only its host.
 */
const shown = (places: readonly string[]): string => places.map(shownPlace).join(', ')

function shownPlace(place: string): string {
  if (!isServer(place)) return existsSync(place) ? place : 'a source'
  const host = URL.parse(place)?.hostname
  return host ? `the database at ${host}` : 'a database'
}

type PlaceWish = { names: readonly string[]; isLitellm: boolean; schema: string | undefined }

/** @throws Error for a place without any of the tables */
async function readPlace(
  place: string,
  wish: PlaceWish,
): Promise<{ tables: Tables } | { config: ExactJson }> {
  const isDatabase = isServer(place) || (existsSync(place) && isSqliteFile(place))
  const text = isDatabase ? '' : readText(place)
  const config = wish.isLitellm && !isDatabase ? configIn(text, wish.names) : undefined
  if (config !== undefined) return { config }
  const tables = await (isDatabase ? tablesOf(place, wish) : tablesIn(text, wish))
  if (wish.names.some((name) => tables.has(name))) return { tables }
  throw new Error(`it has none of the tables ${wish.names.slice(0, 3).join(', ')}`)
}

/** LiteLLM's configuration, as YAML or as JSON; undefined for tables, which may hold its words. */
function configIn(text: string, names: readonly string[]): ExactJson | undefined {
  if (isJson(text)) {
    const json = parseExactJson(text)
    if (!isExactObject(json) || json['model_list'] === undefined) return undefined
    if (![...names, ...Object.keys(lists)].some((name) => json[name] !== undefined)) return json
    throw new Error('it has both a model_list and tables: hand them over in two files')
  }
  const isYaml = /^[ \t]*["']?model_list["']?[ \t]*:/m.test(text)
  if (!isYaml || isSqlDump(text)) return undefined
  const isTable = litellmTableOf(new Set(readCsv(text)[0])) !== undefined
  return isTable ? undefined : parseExactYaml(text)
}

const isJson = (text: string): boolean => /^\s*[[{]/.test(text)

async function tablesOf(place: string, { names, schema }: PlaceWish): Promise<Tables> {
  if (!isServer(place)) return rowsOf(readForeignSqlite(place, names))
  return rowsOf(await readForeignPostgres(place, names, (some) => oneOf(some, schema)))
}

function tablesIn(text: string, { names, isLitellm, schema }: PlaceWish): Tables {
  if (isSqlDump(text)) return readSqlDump(text, names, schema)
  if (!isJson(text)) {
    const { header, rows } = readCsvTable(text)
    return isLitellm ? namelessTable(new Set(header), rows) : new Map()
  }
  const json = parseExactJson(text)
  if (!isExactObject(json)) {
    const rows = rowsIn(json)
    return isLitellm ? namelessTable(columnsIn(rows), rows) : new Map()
  }
  const { total_pages: pages } = json
  if (isLitellm && pages instanceof NumberText && Number(pages.text) > 1) {
    throw new Error(`it is one of ${pages.text} pages: export the tables whole`)
  }
  const all: [string, string][] = names.map((name) => [name, name])
  const tables = new Map<string, Row[]>()
  for (const [member, name] of [...(isLitellm ? Object.entries(lists) : []), ...all]) {
    if (json[member] === undefined) continue
    const rows = rowsIn(json[member])
    assertLiving(name, columnsIn(rows))
    tables.set(name, [...(tables.get(name) ?? []), ...rows])
  }
  return tables
}

/** GET /key/list, /user/list and /team/list of LiteLLM name their lists so. */
const lists = {
  keys: 'LiteLLM_VerificationToken',
  users: 'LiteLLM_UserTable',
  teams: 'LiteLLM_TeamTable',
}

/** All names of columns, also of those that only some rows have. */
const columnsIn = (rows: readonly Row[]): Set<string> =>
  new Set(rows.flatMap((row) => [...row.keys()]))

function namelessTable(columns: ReadonlySet<string>, rows: Row[]): Tables {
  const name = litellmTableOf(columns)
  return new Map(name === undefined ? [] : [[name, rows]])
}

/** @throws Error for one row that two places have otherwise, without its id, which may be secret */
function mergedTables(all: readonly Tables[], ids: Columns): Tables {
  const merged = new Map<string, Row[]>()
  for (const [name, columns] of Object.entries(ids)) {
    const rows = all.flatMap((tables) => tables.get(name) ?? [])
    const byId = new Map<string, Row>()
    for (const row of rows) {
      const id = JSON.stringify(columns.map((column) => textOf(row, column) ?? ''))
      if (columns.every((column) => textOf(row, column) === undefined)) {
        throw new Error(`a row of ${name} has no ${columns[0]}`)
      }
      const known = byId.get(id)
      if (known && contentOf(known) !== contentOf(row)) {
        const why = `a row of ${name} stands there twice, and differs`
        throw new Error(`${why}. Hand over one export at a time`)
      }
      byId.set(id, row)
    }
    if (all.some((tables) => tables.has(name))) merged.set(name, [...byId.values()])
  }
  return merged
}

const contentOf = (row: Row): string =>
  JSON.stringify(
    [...row].filter(([, value]) => value !== null).sort(([a], [b]) => (a < b ? -1 : 1)),
  )

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
  if (!existsSync(file)) {
    const forms = 'Sources are files, or postgres://user@host/name for a PostgreSQL database'
    throw new Error(`there is no such file. ${forms}; export the tables of others as JSON`)
  }
  try {
    return utf8.decode(readFileSync(file)).replace(/^\ufeff/, '')
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
  return `${redact(words).replace(/\.$/, '')}. Nothing was changed.`
}

/** The public price file of LiteLLM. @throws Exit 1 */
export const readPriceFile = (file: string): Promise<ExactTable> =>
  told(shown([file]), 'a price file', () => {
    const json = parseExactJson(readText(file))
    if (!isExactObject(json)) throw new Error('it is not an object of models by their ids')
    return json
  })

/** Accounts by ids of users, from a CSV with the columns user and address. @throws Exit 1 */
export const readMap = (file: string): Promise<Map<string, string>> =>
  told(shown([file]), 'a map of users', () => {
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
