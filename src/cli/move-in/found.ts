/** Describes what another gateway has, before anything is decided about it. */
import type { Millis } from '../../kernel/clock.ts'
import type { Decimal } from '../../kernel/decimal.ts'
import type { ExactJson } from '../../kernel/exact-json.ts'
import type { Nusd } from '../../kernel/money.ts'
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
  key: ServerKey | undefined
  upstreamName: string
  /** Names under which price lists may have it, the best first. */
  publicNames: string[]
  /** Own facts in the names of LiteLLM's price file: mode, limits, prices. */
  facts: ExactTable
}

export type FoundModel = {
  id: string
  /** In the order in which they are asked. */
  deployments: Deployment[]
}

/** A user, a team or a key that belongs to neither; it has a balance. */
export type FoundOwner = {
  /** Unique in the other gateway, such as `user/7`. */
  id: string
  /** The names by which a map of users may name it. */
  names: string[]
  /** Negative where it owes. */
  balance: Nusd
  spent: Nusd
  createdAt: Millis | undefined
  /** False for a key without an owner, which is its own. */
  hasParent: boolean
}

export type FoundKey = {
  id: string
  name: string
  /** The id of its owner. */
  owner: string
  /** Undefined where it has none. */
  cap: Nusd | undefined
  window: CapWindow
  spent: Nusd
  expiresAt: Millis | undefined
  createdAt: Millis | undefined
  models: string[]
  networks: string[]
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
}

export const nothingFound = (): SourceContents => ({
  models: [],
  aliases: {},
  owners: [],
  keys: [],
  spent: [],
  misfits: new Map(),
})

export function addMisfit(misfits: Misfits, why: string, what: string): void {
  const list = misfits.get(why) ?? []
  list.push(what)
  misfits.set(why, list)
}

/** Adds a deployment to its model, behind those that are there. */
export function addDeployment(models: FoundModel[], id: string, deployment: Deployment): void {
  const known = models.find((model) => model.id === id)
  if (known) known.deployments.push(deployment)
  else models.push({ id, deployments: [deployment] })
}

/**
 * An amount in whole nano-USD, rounded towards less money for its owner.
 * @throws Error for one that no account can hold
 */
export function toNusd({ digits, scale }: Decimal): Nusd {
  const rest = scale - 9
  if (rest <= 0) return digits * 10n ** BigInt(-rest)
  const unit = 10n ** BigInt(rest)
  const whole = digits / unit
  return digits < 0n && digits % unit !== 0n ? whole - 1n : whole
}
