/** Reads OpenRouter's keys, credits and activity, as its API and its page export them. */
import { addDecimals, type Decimal } from '../../kernel/decimal.ts'
import { type ExactJson, isExactObject, parseExactJson } from '../../kernel/exact-json.ts'
import { type CapWindow, capWindows } from '../../ledger/window.ts'
import { findProvider } from '../../models/providers/presets.ts'
import {
  addDeployment,
  type FoundState,
  nothingFound,
  type SourceContents,
  toNusd,
} from './found.ts'
import { less, zero } from './litellm-owners.ts'
import {
  amountIn,
  assertColumns,
  isTrue,
  type Row,
  readCsvTable,
  rowsIn,
  textOf,
  timeOf,
} from './tables.ts'

/** The owner of all keys. */
const accountId = 'account/credits'

/** @throws Error when a text is none of the three, or a broken one */
export function readOpenrouterFiles(texts: readonly string[], now: number): SourceContents {
  const found = nothingFound()
  const keys = new Map<string, Row>()
  for (const text of texts) {
    if (!/^\s*[[{]/.test(text)) addActivity(found, text)
    else {
      const json = parseExactJson(text)
      const data = isExactObject(json) ? json['data'] : json
      if (isExactObject(data)) addCredits(found, data)
      else for (const row of rowsIn(data)) addRow(keys, row)
    }
  }
  if (keys.size > 0 && !found.owners.some(({ id }) => id === accountId)) {
    throw new Error('its keys say no balance: hand over the JSON of /api/v1/credits too')
  }
  assertColumns(new Map([['keys', [...keys.values()]]]), { keys: ofKeys })
  for (const row of keys.values()) addKey(found, row, now)
  return found
}

/** Members that limit. */
const ofKeys = [
  ...['hash', 'disabled', 'limit', 'limit_remaining', 'limit_reset', 'usage', 'expires_at'],
]

/** @throws Error for a key that stands there twice, and differs */
function addRow(keys: Map<string, Row>, row: Row): void {
  const hash = textOf(row, 'hash')
  if (hash === undefined) throw new Error('a key has no hash')
  const known = keys.get(hash)
  if (known && JSON.stringify([...known]) !== JSON.stringify([...row])) {
    throw new Error('a key stands there twice, and differs. Hand over one export at a time')
  }
  keys.set(hash, row)
}

/** The answer of `/api/v1/credits`: what was bought and what was used, in dollars. */
function addCredits(found: SourceContents, data: ExactJson): void {
  const [row = new Map()] = rowsIn([data])
  const [bought, used] = [amountIn(row, 'total_credits'), amountIn(row, 'total_usage')]
  if (!bought || !used) throw new Error('it has neither keys nor total_credits and total_usage')
  if (found.owners.length > 0) throw new Error('its credits are told twice')
  found.owners.push({
    ...{ id: accountId, name: 'credits', state: { is: 'on' } },
    ...{ balance: toNusd(less(bought, used)), spent: toNusd(used) },
    ...{ models: undefined, rpm: undefined, concurrency: undefined },
  })
}

/** An entry of `/api/v1/keys`. */
function addKey(found: SourceContents, row: Row, now: number): void {
  const hash = textOf(row, 'hash') ?? ''
  found.secrets.add(hash)
  // Its label shows the ends of its secret.
  const label = textOf(row, 'label')
  if (label !== undefined) found.secrets.add(label)
  const own = textOf(row, 'name')
  const name = own === undefined || own === label ? hash.slice(0, 8) : own
  const expiresAt = timeOf(row, 'expires_at')
  const isExpired = expiresAt !== undefined && expiresAt <= now
  const state: FoundState = isTrue(row, 'disabled')
    ? { is: 'off', why: 'it is disabled' }
    : isExpired
      ? { is: 'off', why: 'it has expired' }
      : { is: 'on' }
  const window = windowOf(row)
  const spent = amountIn(row, 'usage') ?? zero
  const limit = amountIn(row, 'limit')
  const left = amountIn(row, 'limit_remaining') ?? (limit && less(limit, spent))
  const cap = window === 'lifetime' ? left : limit
  found.keys.push({
    ...{ id: `key/${hash}`, name, owner: accountId, cap: cap && toNusd(cap), window, state },
    ...{ spent: toNusd(spent), expiresAt, models: undefined, networks: [] },
    ...{ rpm: undefined, concurrency: undefined },
  })
}

/** @throws Error for a reset that no cap here has */
function windowOf(row: Row): CapWindow {
  const reset = textOf(row, 'limit_reset')
  if (reset === undefined) return 'lifetime'
  const own = { daily: 'day', weekly: 'week', monthly: 'month' }[reset]
  const window = capWindows.find((one) => one === own)
  if (window === undefined) throw new Error('limit_reset of a key is not a window')
  return window
}

/** The CSV of its activity: models that were used, and what was spent by which key. */
function addActivity(found: SourceContents, text: string): void {
  const { header, rows } = readCsvTable(text)
  const provider = findProvider('openrouter')
  if (!provider || !header.includes('model_permaslug') || !header.includes('cost_total')) {
    throw new Error('it is neither the CSV of its activity nor JSON of its keys or credits')
  }
  const spent = new Map<string, Decimal>()
  const models = new Set<string>()
  for (const row of rows) {
    const key = textOf(row, 'api_key_name') ?? 'the chat room'
    const cost = amountIn(row, 'cost_total') ?? zero
    spent.set(key, addDecimals(spent.get(key) ?? zero, cost))
    const model = textOf(row, 'model_permaslug')
    if (model !== undefined) models.add(model)
  }
  for (const [name, amount] of spent) found.spent.push({ name, amount: toNusd(amount) })
  for (const name of models) {
    addDeployment(found.models, name, {
      provider: { ...provider, prices: 'openrouter' },
      ...{ baseUrl: undefined, keys: [{ variable: 'OPENROUTER_API_KEY' }], upstreamName: name },
      ...{ publicNames: [`openrouter/${name}`, name], facts: {}, order: 0, weight: 1 },
    })
  }
}
