/** Reads OpenRouter's keys, credits and activity, as its API and its page export them. */
import { addDecimals, type Decimal, parseDecimal } from '../../kernel/decimal.ts'
import { type ExactJson, isExactObject, parseExactJson } from '../../kernel/exact-json.ts'
import { capWindows } from '../../ledger/window.ts'
import { findProvider } from '../../models/providers/presets.ts'
import { addDeployment, addMisfit, nothingFound, type SourceContents, toNusd } from './found.ts'
import { isTrue, type Row, readCsvTable, rowsIn, textOf, timeOf } from './tables.ts'

/** The owner of all keys, where a file tells the credits of the account. */
const accountId = 'account/credits'

/** @throws Error when a text is none of the three, or a broken one */
export function readOpenrouterFiles(texts: readonly string[], now: number): SourceContents {
  const found = nothingFound()
  const keys: Row[] = []
  for (const text of texts) {
    if (!/^\s*[[{]/.test(text)) addActivity(found, text)
    else {
      const json = parseExactJson(text)
      const data = isExactObject(json) ? json['data'] : json
      if (isExactObject(data)) addCredits(found, data)
      else keys.push(...rowsIn(data))
    }
  }
  for (const row of keys) addKey(found, row, now)
  return found
}

/** The answer of `/api/v1/credits`: what was bought and what was used, in dollars. */
function addCredits(found: SourceContents, data: ExactJson): void {
  const [row = new Map()] = rowsIn([data])
  const [bought, used] = [amountIn(row, 'total_credits'), amountIn(row, 'total_usage')]
  if (!bought || !used) throw new Error('it has neither keys nor total_credits and total_usage')
  if (found.owners.length > 0) throw new Error('its credits are told twice')
  found.owners.push({
    ...{ id: accountId, names: ['openrouter'], createdAt: undefined, hasParent: true },
    ...{ balance: toNusd(less(bought, used)), spent: toNusd(used) },
  })
}

/** An entry of `/api/v1/keys`. Without credits, each key has what its own limit leaves. */
function addKey(found: SourceContents, row: Row, now: number): void {
  const hash = textOf(row, 'hash')
  if (hash === undefined) throw new Error('a key has no hash')
  const name = textOf(row, 'name') ?? textOf(row, 'label') ?? hash.slice(0, 12)
  const expiresAt = timeOf(row, 'expires_at')
  const isExpired = expiresAt !== undefined && expiresAt <= now
  if (isTrue(row, 'disabled') || isExpired) {
    addMisfit(found.misfits, `a key: it ${isExpired ? 'has expired' : 'is disabled'}`, name)
    return
  }
  const window = windowOf(row)
  const spent = amountIn(row, 'usage') ?? zero
  const limit = amountIn(row, 'limit')
  const left = amountIn(row, 'limit_remaining') ?? (limit && less(limit, spent))
  const cap = window === 'lifetime' ? left : limit
  const id = `key/${hash}`
  const createdAt = timeOf(row, 'created_at')
  const owner = found.owners.some((one) => one.id === accountId) ? accountId : id
  if (owner === id) {
    const balance = window === 'lifetime' && cap ? toNusd(cap) : 0n
    if (balance === 0n) addMisfit(found.misfits, 'a key without a balance: hand the credits', name)
    const own = { id, names: [name], createdAt, hasParent: false }
    found.owners.push({ ...own, balance, spent: toNusd(spent) })
  }
  found.keys.push({
    ...{ id, name, owner, cap: cap && toNusd(cap), window, spent: toNusd(spent), expiresAt },
    ...{ createdAt, models: [], networks: [], rpm: undefined, concurrency: undefined },
  })
}

/** @throws Error for a reset that no cap here has */
function windowOf(row: Row) {
  const reset = textOf(row, 'limit_reset')
  if (reset === undefined) return 'lifetime'
  const own = { daily: 'day', weekly: 'week', monthly: 'month' }[reset]
  const window = capWindows.find((one) => one === own)
  if (window === undefined) throw new Error(`"${reset}" in limit_reset is not a window`)
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
      ...{ baseUrl: undefined, key: { variable: 'OPENROUTER_API_KEY' }, upstreamName: name },
      ...{ publicNames: [`openrouter/${name}`, name], facts: {} },
    })
  }
}

const zero: Decimal = { digits: 0n, scale: 0 }

const less = (a: Decimal, b: Decimal): Decimal => addDecimals(a, { ...b, digits: -b.digits })

/** @throws Error for something else than a decimal */
function amountIn(row: Row, name: string): Decimal | undefined {
  const text = textOf(row, name)
  const amount = text === undefined ? undefined : parseDecimal(text)
  if (text !== undefined && !amount) throw new Error(`"${text}" in ${name} is not an amount`)
  return amount
}
