/** Describes what another gateway has, before anything is decided about it. */
import type { Millis } from '../../kernel/clock.ts'
import type { Decimal } from '../../kernel/decimal.ts'
import type { ExactJson } from '../../kernel/exact-json.ts'
import type { Nusd } from '../../kernel/money.ts'
import { redact } from '../../kernel/redact.ts'
import type { CapWindow } from '../../ledger/window.ts'
import type { Provider } from '../../models/providers/provider.ts'

export type ExactTable = { [name: string]: ExactJson }

/** The key of a model server: in a variable of the environment, or the secret itself. */
export type ServerKey = { variable: string } | { secret: string }

/** One server that answers for a model. */
export type Deployment = {
  provider: Provider
  /** Undefined for the address of the preset. */
  baseUrl: string | undefined
  /** Several share the requests. */
  keys: readonly ServerKey[]
  upstreamName: string
  /** Its place among the servers of its model, and its share among those of the same place. */
  order: number
  weight: number
  /** Names under which price lists may have it, the best first. */
  publicNames: string[]
  /** Own facts in the names of LiteLLM's price file: mode, limits, prices. */
  facts: ExactTable
  /** Whether its own prices are what it sells at there, which may be below what it costs. */
  isSold?: true
}

export type FoundModel = { id: string; deployments: Deployment[] }

/** Whether a key works there: `off` until it is switched on again, `gone` for ever. */
export type FoundState = { is: 'on' } | { is: 'off' | 'gone'; why: string }

/** A user, a team, or all keys that belong to neither; it has a balance. */
export type FoundOwner = {
  /** Made of an id that never changes there, such as `user/7`. */
  id: string
  /** For people alone: nothing is found by it. */
  name: string
  /** Negative where it owes. */
  balance: Nusd
  /** Whether its balance is what its keys have left, because no budget is its own. */
  isOfKeys?: true
  spent: Nusd
  state: FoundState
  /** Undefined where it may use all. */
  models: readonly string[] | undefined
  rpm: number | undefined
  concurrency: number | undefined
}

/** How the ids of owners begin that stand for all keys without an owner. */
export const unowned = 'unowned/'

export type FoundKey = {
  /** Made of an id that never changes there, such as `key/7`. */
  id: string
  name: string
  /** The id of its owner. */
  owner: string
  /** The id of the member of a team whose limits its keys share; undefined where it has none. */
  member?: string
  /** Whether it is such a member: a key that other keys stand below. */
  isMember?: true
  /** Undefined where it has none. */
  cap: Nusd | undefined
  window: CapWindow
  /** Whether no budget there gives it money: its cap here is made up. */
  isUnfunded?: true
  spent: Nusd
  state: FoundState
  expiresAt: Millis | undefined
  /** Undefined where it may use all; no key that may use none is `on`. */
  models: readonly string[] | undefined
  networks: readonly string[]
  rpm: number | undefined
  concurrency: number | undefined
}

/** The names of things that do not fit, by the reason. */
export type Misfits = Map<string, string[]>

export type SourceContents = {
  models: FoundModel[]
  aliases: Record<string, string>
  owners: FoundOwner[]
  keys: FoundKey[]
  /** The spending of each key there, by an export of its activity. */
  spent: { name: string; amount: Nusd }[]
  misfits: Misfits
  /** Secrets that were read: no output may have one. */
  secrets: Set<string>
}

export const nothingFound = (): SourceContents => ({
  models: [],
  aliases: {},
  owners: [],
  keys: [],
  spent: [],
  misfits: new Map(),
  secrets: new Set(),
})

/** Keeps names as they are: a secret is found in a whole text alone, so outputs clean them. */
export function addMisfit(misfits: Misfits, why: string, what: string): void {
  const list = misfits.get(why) ?? []
  if (!list.includes(what)) list.push(what)
  misfits.set(why, list)
}

/** Adds a deployment to its model. */
export function addDeployment(models: FoundModel[], id: string, deployment: Deployment): void {
  const known = models.find((model) => model.id === id)
  if (known) known.deployments.push(deployment)
  else models.push({ id, deployments: [deployment] })
}

/** An amount in whole nano-USD, rounded towards less money for its owner. */
export function toNusd({ digits, scale }: Decimal): Nusd {
  const rest = scale - 9
  if (rest <= 0) return digits * 10n ** BigInt(-rest)
  return floorDiv(digits, 10n ** BigInt(rest))
}

export function floorDiv(value: bigint, unit: bigint): bigint {
  const whole = value / unit
  return value < 0n && value % unit !== 0n ? whole - 1n : whole
}

/**
 * Takes the secrets of the other gateway out of texts, wherever they came in: as they are, and as
 * JSON and TOML write them. Of a short one every text has pieces.
 */
export function secretRemover({ secrets }: SourceContents): (text: string) => string {
  const forms = [...secrets].flatMap((one) => [one, JSON.stringify(one).slice(1, -1)])
  const byLength = Map.groupBy(new Set(forms), ({ length }) => length)
  const sorted = [...byLength].filter(([length]) => length >= 6).sort(([a], [b]) => b - a)
  const sets = sorted.map(([length, some]) => [length, new Set(some)] as const)
  return (text) => sets.reduce((clean, [length, some]) => without(clean, length, some), text)
}

/** Makes texts fit for a line of output: known secrets go first, then what looks like one. */
export function lineCleaner(found: SourceContents): (text: string) => string {
  const remove = secretRemover(found)
  return (text) => redact(remove(text)).replace(/\p{C}/gu, ' ')
}

function without(text: string, length: number, some: ReadonlySet<string>): string {
  const parts: string[] = []
  let from = 0
  for (let at = 0; at + length <= text.length; at++) {
    if (!some.has(text.slice(at, at + length))) continue
    parts.push(text.slice(from, at), '[redacted]')
    from = at + length
    at = from - 1
  }
  return parts.join('') + text.slice(from)
}
