/** Changes models and upstreams in the configuration file of a running server; types alone. */
import type { Meter } from '../../models/meter.ts'
import type { PriceField } from '../../models/rate-fields.ts'
import type { UpstreamCheck } from '../../models/upstream/check.ts'
import type { ReloadResult } from '../reload-port.ts'

export type ModelChangeWish = {
  kind: 'model'
  id: string
  status: 'live' | 'disabled' | 'deprecated'
  aliases: readonly string[]
  /** The weight of each step of the route; null for none, because the draft travels as JSON. */
  weights: readonly (number | null)[]
  /** Prices by name, as decimal digits of their unit; null for one that is taken away. */
  prices: Readonly<Partial<Record<PriceField, string | null>>>
  /** Whether it may cost more than it sells for. */
  mayLose: boolean
  /** Whether a price may fall although the cost of a step is not known. */
  mayGuess: boolean
}

export type UpstreamChangeWish = {
  kind: 'upstream'
  id: string
  status: 'live' | 'disabled'
  /** Replaces its key. */
  key: string | undefined
}

export type ChangeWish = ModelChangeWish | UpstreamChangeWish

/** A model as the file has it. */
export type WrittenModel = {
  status: ModelChangeWish['status']
  aliases: readonly string[]
  steps: readonly { to: string; weight: number | null }[]
  prices: readonly WrittenPrice[]
}

/** A price that the file has, or that a model of its kind needs. */
export type WrittenPrice = {
  field: PriceField
  /** In its unit; undefined where the file has none. */
  value: bigint | undefined
  /** The highest cost of a unit among the steps of the route; undefined where none is known. */
  cost: bigint | undefined
  isNeeded: boolean
}

/** An upstream as the file has it, without its key. */
export type WrittenUpstream = {
  status: UpstreamChangeWish['status']
  baseUrl: string
  /** The variable or file of its key; null for one without a key, or with several. */
  keyPlace: string | null
}

/** A change that nothing has made yet. */
export type ChangeDraft = {
  wish: (Omit<ModelChangeWish, 'kind'> & { kind: 'model' }) | Omit<UpstreamChangeWish, 'key'>
  /** SHA-256 of the file before and after. */
  before: string
  after: string
  /** The key, and the new file that is to keep it. */
  key: { secret: string; file: string } | undefined
}

export type ChangeProposal = {
  draft: ChangeDraft
  /** Lines that go and come, `- ` or `+ ` before each. */
  diff: string
  path: string
  isWritable: boolean
  /** Whether other nodes have configurations of their own. */
  hasOthers: boolean
  /** The prices after the change; empty where none changes. */
  margins: readonly PriceMargin[]
  /** Sales below cost that the change brings, in sentences without full stops. */
  losses: readonly string[]
}

/** A price before and after a change, and its cost at the dearest step, in pico-USD a unit. */
export type PriceMargin = {
  meter: Meter
  before: bigint | undefined
  after: bigint
  cost: bigint | undefined
}

/** How an upstream answered, also in words. */
export type UpstreamTest = { check: UpstreamCheck; words: string }

export type ChangeDesk = {
  /** Undefined for a model that the file does not have. */
  model(id: string): WrittenModel | undefined
  upstream(id: string): WrittenUpstream | undefined
  /** Asks an upstream for its models, which costs nothing. @throws Refusal 'not_found' */
  test(id: string): Promise<UpstreamTest>
  /** @throws Refusal 'invalid_request' that names the field, 'conflict', 'not_found' */
  propose(wish: ChangeWish): ChangeProposal
  /** @throws Refusal 'conflict' where the file changed or cannot be written; it is as before */
  write(draft: ChangeDraft): Promise<ReloadResult>
}
