/** Reads the files of another gateway, all of them before anything is changed. */
import { readFileSync } from 'node:fs'
import { sayingOf } from '../../app/logging.ts'
import { isExactObject, parseExactJson } from '../../kernel/exact-json.ts'
import { isAddress } from '../../verify/address.ts'
import { Exit, exitCodes } from '../context.ts'
import { type ExactTable, nothingFound, type SourceContents } from './found.ts'
import { readLitellmConfig } from './litellm-config.ts'
import { readLitellmKeys, readLitellmTables } from './litellm-keys.ts'
import { readOneApi } from './one-api.ts'
import { readOpenrouterFiles } from './openrouter.ts'
import { type Row, readCsvTable, textOf } from './tables.ts'

export const gateways = ['litellm', 'new-api', 'one-api', 'openrouter'] as const
export type Gateway = (typeof gateways)[number]

/** @throws Exit 1 that names the file and the fault */
export async function readSource(
  gateway: Gateway,
  files: readonly string[],
  now: number,
): Promise<SourceContents> {
  if (gateway === 'litellm') return readLitellm(files, now)
  if (gateway === 'openrouter') {
    const read = () => readOpenrouterFiles(files.map(readText), now)
    return told(files.join(', '), gateway, read)
  }
  const parts: SourceContents[] = []
  for (const file of files) {
    parts.push(await told(file, gateway, () => readOneApi(file, gateway, now)))
  }
  return merged(parts)
}

async function readLitellm(files: readonly string[], now: number): Promise<SourceContents> {
  const parts: SourceContents[] = []
  const tables = new Map<string, readonly Row[]>()
  for (const file of files) {
    await told(file, 'litellm', async () => {
      const text = readText(file)
      if (/^[ \t]*["']?model_list["']?[ \t]*:/m.test(text))
        parts.push(await readLitellmConfig(text))
      else {
        for (const [name, rows] of readLitellmTables(text)) {
          tables.set(name, [...(tables.get(name) ?? []), ...rows])
        }
      }
    })
  }
  if (tables.size > 0) {
    parts.push(await told(files.join(', '), 'litellm', () => readLitellmKeys(tables, now)))
  }
  return merged(parts)
}

function merged(parts: readonly SourceContents[]): SourceContents {
  const all = nothingFound()
  for (const part of parts) {
    all.models.push(...part.models)
    all.owners.push(...part.owners)
    all.keys.push(...part.keys)
    all.spent.push(...part.spent)
    Object.assign(all.aliases, part.aliases)
    for (const [why, list] of part.misfits) {
      all.misfits.set(why, [...(all.misfits.get(why) ?? []), ...list])
    }
  }
  return all
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const readText = (file: string): string => utf8.decode(readFileSync(file))

/** @throws Exit 1 with the file, in place of any other error */
async function told<T>(file: string, of: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : sayingOf(error)
    const words = `${file} cannot be read as ${of}: ${why.replace(/\.$/, '')}.`
    throw new Exit(exitCodes.failed, `${words} Nothing was changed.`)
  }
}

/** The public price file of LiteLLM. @throws Exit 1 */
export const readPriceFile = (file: string): Promise<ExactTable> =>
  told(file, 'a price file', () => {
    const json = parseExactJson(readText(file))
    if (!isExactObject(json)) throw new Error('it is not an object of models by their ids')
    return json
  })

/** Accounts by the names of users, from a CSV with the columns user and address. @throws Exit 1 */
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
