/** Reads query parameters strictly. */
import {
  defaultPageLimit,
  maxPageLimit,
  type PageRequest,
  pageRows,
} from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'

/** The query of a request target, as sent; a parameter that is given twice is refused when read. */
export function queryOf(request: Request): URLSearchParams {
  const at = request.url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : request.url.slice(at + 1))
}

/** A form sends every field; those that were left empty ask for nothing. */
export const withoutEmpty = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([, value]) => value !== ''))

/** The query of a list in a browser, which has its own number of rows unless one is asked for. */
export function listQuery(query: URLSearchParams): URLSearchParams {
  const asked = new URLSearchParams(query)
  if (!asked.get('limit')) asked.set('limit', String(pageRows))
  return asked
}

/** The address of a list without its empty fields; undefined if it has none of them. */
export function tidyAddress(path: string, query: URLSearchParams): string | undefined {
  const tidy = withoutEmpty(query)
  if (tidy.size === query.size) return undefined
  return addressOf(path, tidy)
}

/** An address with the values that are there. */
export const pathWith = (path: string, values: Readonly<Record<string, string | undefined>>) =>
  addressOf(
    path,
    new URLSearchParams(
      Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    ),
  )

export const addressOf = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query}`

/**
 * `limit` (1–100, 20 when absent) and `after` of a list route.
 * @throws Refusal 'invalid_request'
 */
export const readPage = (query: URLSearchParams): PageRequest => ({
  limit: readLimit(query) ?? defaultPageLimit,
  after: readAfter(query),
})

export const readLimit = (query: URLSearchParams): number | undefined =>
  readInteger(query, 'limit', { min: 1, max: maxPageLimit })

export function readAfter(query: URLSearchParams): string | undefined {
  const after = readText(query, 'after')
  if (after === '') refuseParam('after', '"after" must be the id of an item of this list.')
  return after
}

/**
 * A decimal integer without sign, leading zeros or spaces, in bounds; undefined when absent.
 * @throws Refusal 'invalid_request'
 */
export function readInteger(
  query: URLSearchParams,
  name: string,
  bounds: { min: number; max: number },
): number | undefined {
  const text = readText(query, name)
  if (text === undefined) return undefined
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= bounds.min && value <= bounds.max)) {
    refuseParam(name, `"${name}" must be an integer from ${bounds.min} to ${bounds.max}.`)
  }
  return value
}

/**
 * One of a few words; undefined when absent.
 * @throws Refusal 'invalid_request'
 */
export function readChoice<const T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = readText(query, name)
  if (text === undefined) return undefined
  const choice = choices.find((one) => one === text)
  return choice ?? refuseParam(name, `"${name}" must be one of: ${choices.join(', ')}.`)
}

/**
 * A parameter as text; undefined when absent.
 * @throws Refusal 'invalid_request' for a zero byte, and when it is given twice.
 */
export function readText(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name)
  if (values.length > 1) refuseParam(name, `"${name}" is given more than once.`)
  // No text that PostgreSQL stores has one, so nothing could be found by it.
  if (values[0]?.includes('\0')) refuseParam(name, `"${name}" holds a zero byte.`)
  return values[0]
}

function refuseParam(param: string, message: string): never {
  refuse('invalid_request', { message, param })
}
