/** Readers of single values: their form, their limits and how they are shown. */
import { isIP } from 'node:net'
import { isShardId } from '../kernel/shard.ts'
import { parseSlots, shardIdForm, slotsForm } from '../storage/slots/slot-text.ts'
import { isAddress } from '../verify/address.ts'

/** How one value of the configuration is written and what it may be. */
export type Reader<T> = {
  /** The unit or form in the table: `bytes`, `host:port`, `text, json`. */
  unit: string
  /** Turns the text of a flag or an environment variable into what TOML would have given. */
  fromText(text: string): unknown
  /** The value, or what it must be. Those words never repeat the value: it may be a secret. */
  check(raw: unknown): CheckResult<T>
  show(value: T): string
}

export type CheckResult<T> = { value: T } | { must: string }

const accept = <T>(value: T): CheckResult<T> => ({ value })
const must = (words: string): { must: string } => ({ must: words })

/** A whole number within `least`…`most`. */
export function integer(unit: string, least = 0, most = Number.MAX_SAFE_INTEGER): Reader<number> {
  return {
    unit,
    fromText: wholeFromText,
    check: (raw) =>
      typeof raw === 'bigint' && raw >= BigInt(least) && raw <= BigInt(most)
        ? accept(Number(raw))
        : must(`a whole number from ${group(least)} to ${group(most)}`),
    show: group,
  }
}

/** A number within `least`…`most`, with a fraction or without. */
export function decimal(unit: string, least: number, most: number): Reader<number> {
  return {
    unit,
    fromText: (text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text),
    check: (raw) => {
      const value = typeof raw === 'bigint' ? Number(raw) : raw
      return typeof value === 'number' && value >= least && value <= most
        ? accept(value)
        : must(`a number from ${least} to ${most}`)
    },
    show: String,
  }
}

export const flag: Reader<boolean> = {
  unit: 'true, false',
  fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  check: (raw) => (typeof raw === 'boolean' ? accept(raw) : must('true or false')),
  show: String,
}

/** Text that `pattern` matches; `words` say what it must be. */
export function text(unit: string, words: string, pattern: RegExp): Reader<string> {
  return checkedText(unit, words, (raw) => (pattern.test(raw) ? raw : undefined))
}

export const upstreamId = text(
  'id',
  'an id of a-z, 0-9, dot, dash and underscore',
  /^[a-z0-9][a-z0-9._-]{0,63}$/,
)

/** A time of a day up to `last`, 23:59 or its end. */
export const clockTime = (last: '23:59' | '24:00'): Reader<string> =>
  text(
    'hh:mm',
    `a time such as 16:30, at most ${last}`,
    last === '24:00' ? /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/ : /^([01]\d|2[0-3]):[0-5]\d$/,
  )

export const filePath = text('path', 'a path', /^[^\0]+$/)

export function oneOf<const T extends string>(...choices: T[]): Reader<T> {
  return checkedText(choices.join(', '), `one of ${choices.join(', ')}`, (raw) =>
    choices.find((choice) => choice === raw),
  )
}

/** A list; in a flag or an environment variable its items are divided by commas. */
export function listOf<T>(item: Reader<T>): Reader<T[]> {
  return {
    unit: `list of ${item.unit}`,
    fromText: (raw) =>
      raw
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .map(item.fromText),
    check(raw) {
      if (!Array.isArray(raw)) return must('a list')
      const values: T[] = []
      for (const part of raw) {
        const checked = item.check(part)
        if ('must' in checked) return must(`a list; each item ${checked.must}`)
        values.push(checked.value)
      }
      return accept(values)
    },
    show: (values) => `[${values.map(item.show).join(', ')}]`,
  }
}

/** A table of texts under names that `name` matches; only the file can hold one. */
export function textTable(words: string, name: RegExp, value: RegExp): Reader<Texts> {
  return {
    unit: 'table of text',
    fromText: (raw) => raw,
    check(raw) {
      const wanted = must(`a table of ${words}, each a text`)
      if (Object.prototype.toString.call(raw) !== '[object Object]') return wanted
      const entries = Object.entries(raw as object)
      const fits = entries.every(
        ([key, text]) => name.test(key) && typeof text === 'string' && value.test(text),
      )
      return fits ? accept(Object.fromEntries(entries)) : wanted
    },
    show: (texts) => {
      const pairs = Object.entries(texts).map((pair) => pair.map((one) => JSON.stringify(one)))
      return `{ ${pairs.map(([key, text]) => `${key} = ${text}`).join(', ')} }`
    },
  }
}

const modelName = /^[A-Za-z0-9][\w.:@/-]{0,127}$/

/** Names of models that stand for others; in a variable `name=model,name=model`. */
export const aliasTable: Reader<Texts> = {
  ...textTable('names of models, * for any characters', /^[\w.:@/*-]{1,128}$/, modelName),
  fromText: (raw) => Object.fromEntries(raw.split(',').map((part) => part.trim().split('=', 2))),
}

const reserved = 'host|connection|content-length|content-type|transfer-encoding|authorization'

/** A header in lower case that the operator may set, and not HTTP itself. */
export const headerName = new RegExp(`^(?!(${reserved})$)[a-z0-9-]{1,64}$`)

/** One in lower case that only HTTP itself may set is refused, like what says how a body came. */
const collectorHeader = /^(?!(host|connection|content-.*|transfer-encoding)$)[a-z0-9-]{1,64}$/

/** Headers of requests to a collector; in a variable `name=value,…`, with %2C for a comma. */
export const collectorHeaders: Reader<Texts> = {
  ...textTable('headers in lower case', collectorHeader, /^[\t -~]{0,4096}$/),
  unit: 'table of text',
  fromText: (raw) => {
    const pairs = raw.split(',').map((part) => {
      const at = part.indexOf('=')
      const name = part.slice(0, Math.max(0, at)).trim().toLowerCase()
      return [name, decoded(part.slice(at + 1).trim())]
    })
    return Object.fromEntries(pairs)
  },
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

type Texts = { readonly [name: string]: string }

export type HostPort = { hostname: string; port: number }

/** An address to listen on. A port alone means loopback; port 0 lets the system choose. */
export const hostPort: Reader<HostPort> = {
  ...checkedText(
    'host:port',
    'host:port, for instance 127.0.0.1:4663 or [::1]:4663',
    parseHostPort,
  ),
  show: ({ hostname, port }) => `"${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}"`,
}

/** An origin as browsers write it: lower case, no path, no default port, http on loopback only. */
export const origin: Reader<string> = checkedText(
  'origin',
  'an origin: https://host or http://localhost:port, in lower case, without a path or slash',
  (raw) => {
    const url = URL.parse(raw)
    if (url?.origin !== raw) return undefined
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
      ? raw
      : undefined
  },
)

export const shardId = checkedText('id', shardIdForm, (raw) => (isShardId(raw) ? raw : undefined))

export const slots = checkedText('slots', slotsForm, (raw) => (parseSlots(raw) ? raw : undefined))

/** An http or https URL without user or fragment; comes back without a slash at its end. */
export const httpUrl: Reader<string> = checkedText('URL', 'an http:// or https:// URL', (raw) => {
  const url = URL.parse(raw)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.hash) return undefined
  return raw.replace(/(?<!\/)\/+$/, '')
})

/** An {@link httpUrl} without a query: what is secret belongs into a header. */
export const collectorUrl: Reader<string> = checkedText(
  'URL',
  'an http:// or https:// URL without user, query and fragment',
  (raw) => {
    const checked = httpUrl.check(raw)
    return 'value' in checked && !raw.includes('?') ? checked.value : undefined
  },
)

export const databaseUrl = checkedText(
  'sqlite: or postgres:',
  'sqlite:<path> or postgres://user@host/name, with special characters as %XX',
  (raw) => {
    if (/^sqlite:[^\0]+$/.test(raw)) return raw
    return /^postgres(ql)?:\/\/./.test(raw) && isUrl(raw) ? raw : undefined
  },
)

/** Whether the parts of a URL can be decoded: a lone `%` in a password cannot. */
function isUrl(raw: string): boolean {
  try {
    decodeURIComponent(new URL(raw).href)
    return true
  } catch {
    return false
  }
}

/** An account on the chain; a checksum that does not fit betrays a slip of the hand. */
export const address: Reader<string> = checkedText(
  '0x address',
  'an address: 0x and 40 hex digits, in lower case or with the right checksum',
  (raw) => (isAddress(raw) ? raw : undefined),
)

/** One address or a network of them in CIDR form. */
export const network: Reader<string> = checkedText(
  'address or CIDR',
  'an IP address or a network like 10.0.0.0/8',
  (raw) => {
    const [address = '', bits, ...rest] = raw.split('/')
    const version = isIP(address)
    if (version === 0 || rest.length > 0) return undefined
    if (bits === undefined) return raw
    return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128) ? raw : undefined
  },
)

/** Whether a host name or address never leaves this machine. */
export function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}

/** A number with its digits in groups of three, as TOML reads them: `4_194_304`. */
export function group(value: number | bigint): string {
  return value.toString().replace(/\B(?=(\d{3})+$)/g, '_')
}

function checkedText<T extends string | HostPort>(
  unit: string,
  words: string,
  parse: (raw: string) => T | undefined,
): Reader<T> {
  return {
    unit,
    fromText: (raw) => raw,
    check(raw) {
      const value = typeof raw === 'string' ? parse(raw) : undefined
      return value === undefined ? must(words) : accept(value)
    },
    show: (value) => JSON.stringify(value),
  }
}

/** Underscores between digits are allowed, as in TOML. */
export function wholeFromText(raw: string): unknown {
  return /^\d+(_\d+)*$/.test(raw) ? BigInt(raw.replaceAll('_', '')) : raw
}

function parseHostPort(raw: string): HostPort | undefined {
  const match = /^(?:(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):)?(\d{1,5})$/i.exec(raw)
  const port = Number(match?.[3])
  if (!match || port > 65_535) return undefined
  if (match[1] !== undefined && isIP(match[1]) !== 6) return undefined
  return { hostname: match[1] ?? match[2] ?? '127.0.0.1', port }
}
