/** Turns found models into the configuration that is proposed: upstreams, models, aliases. */
import type { StoredKey } from '../../app/providers/write-change.ts'
import { rawAliases, withAliases } from '../../config/alias-text.ts'
import {
  rawModels,
  rawUpstreams,
  stable,
  withModels,
  withUpstream,
} from '../../config/model-text.ts'
import { exactEntry, inDollars } from '../../config/money-values.ts'
import { withMaxKeys } from '../../config/plan-text.ts'
import type { Decimal } from '../../kernel/decimal.ts'
import { builtinModels } from '../../models/builtins.ts'
import {
  type ModelEntry,
  type TomlTable,
  type TomlValue,
  toEntry,
} from '../../models/price-files/price-entry.ts'
import type { OfferedModel } from '../../models/price-files/price-file.ts'
import { addMisfit, type Deployment, type FoundModel, type SourceContents } from './found.ts'
import { NewUpstreams } from './new-upstreams.ts'
import { dearestOf, type MoreFacts, offeredBy } from './offered-models.ts'

export type Proposal = {
  /** Undefined if a person has to write it. */
  text: string | undefined
  /** Models that are new; those that are there stay as they are. */
  added: ModelEntry[]
  present: number
  upstreams: TomlTable[]
  aliases: Record<string, string>
  /** Plans that need more keys, with their number. */
  raised: Map<string, number>
  /** Files of keys that are to be written. */
  keys: readonly StoredKey[]
}

export type ProposalWish = { data: string; facts: MoreFacts; markup: Decimal | undefined }

export async function proposalOf(
  text: string,
  found: SourceContents,
  { data, facts, markup }: ProposalWish,
): Promise<Proposal> {
  const servers = new NewUpstreams(rawUpstreams(text), data)
  const known = new Map(rawModels(text).map((entry) => [entry.id, exactEntry(entry)]))
  const added: ModelEntry[] = []
  let present = 0
  for (const model of found.models) {
    const before = known.get(model.id)
    const entry = await entryOf(model, {
      ...{ found, facts, markup },
      // Nothing is added for a model that stays as it is.
      idOf: (deployment) => (before ? (servers.find(deployment) ?? '') : servers.idOf(deployment)),
    })
    if (entry && !before) added.push(entry)
    if (before) present += 1
    if (entry && before) noteOther(found, before, entry)
  }
  const ids = new Set([...builtinModels, ...known.values(), ...added].map(({ id }) => id))
  const aliases = newAliases(text, found, ids)
  const parts = { upstreams: servers.added, added, aliases }
  return { ...parts, present, raised: new Map(), keys: servers.keys, text: textWith(text, parts) }
}

type EntryContext = {
  found: SourceContents
  facts: MoreFacts
  markup: Decimal | undefined
  idOf(deployment: Deployment): string
}

/** Names of models at a server that no line of a configuration can hold. */
const oddName = /[^\S ]|\p{C}|^ | $/u

async function entryOf(
  { id, deployments }: FoundModel,
  { found, facts, markup, idOf }: EntryContext,
): Promise<ModelEntry | undefined> {
  const left = (why: string): undefined => {
    addMisfit(found.misfits, why, id)
    return undefined
  }
  if (!/^[A-Za-z0-9][\w.:@/-]{0,127}$/.test(id)) return left('a name that cannot be an id here')
  if (builtinModels.some((model) => model.id === id)) return left('the id of a built-in model')
  const steps: Step[] = []
  for (const deployment of [...deployments].sort((a, b) => a.order - b.order || 0)) {
    const model = await offeredBy(id, deployment, facts)
    const kind = steps[0]?.model.kind
    if (typeof model === 'string') left(model)
    else if (oddName.test(deployment.upstreamName)) left('a name of its server in several lines')
    else if (kind !== undefined && kind !== model.kind) left('servers of two kinds')
    else steps.push({ model, deployment })
  }
  const sold = dearestOf(steps.map(({ model }) => model))
  if (!sold) return undefined
  try {
    const { entry } = toEntry(sold, { upstream: '', factor: markup })
    const { bands, tiers, route: _, ...rest } = entry
    const route = routeOf(steps, sold, { markup, idOf })
    return { ...rest, id, route, ...(bands ? { bands } : {}), ...(tiers ? { tiers } : {}) }
  } catch {
    return left('a price beyond what one can be here')
  }
}

type Step = { model: OfferedModel; deployment: Deployment }

/** The servers of the first place share the requests; the others follow in their order. */
function routeOf(
  steps: readonly Step[],
  sold: OfferedModel,
  { markup, idOf }: Pick<EntryContext, 'markup' | 'idOf'>,
): TomlValue[] {
  const places = new Map<string, { first: boolean; weight: number; cost: TomlTable }>()
  for (const { model, deployment } of steps) {
    const to = `${idOf(deployment)}:${deployment.upstreamName}`
    const first = deployment.order === steps[0]?.deployment.order
    const known = places.get(to)
    if (known) known.weight += deployment.weight
    else places.set(to, { first, weight: deployment.weight, cost: costOf(model) })
  }
  const isShared = [...places.values()].filter(({ first }) => first).length > 1
  return [...places].map(([to, { first, weight, cost }]): TomlValue => {
    const isPriced = markup !== undefined || stable(cost) !== stable(costOf(sold))
    const priced: TomlTable = isPriced ? { cost } : {}
    if (isShared && first) return { to, weight: wholeWeight(weight), ...priced }
    return isPriced ? { to, ...priced } : to
  })
}

/** A weight of zero is the smallest share, as it is in new-api. */
const wholeWeight = (weight: number): bigint =>
  BigInt(Math.min(1_000_000_000, Math.max(1, Math.round(weight))))

const once: Decimal = { digits: 1n, scale: 0 }

/** The cost of a server, as a step of a route has it. */
function costOf(model: OfferedModel): TomlTable {
  const { entry } = toEntry(model, { upstream: '', factor: once })
  const [step] = (entry['route'] ?? []) as TomlTable[]
  return (step?.['cost'] ?? {}) as TomlTable
}

/** Names what a model that is there has otherwise: it is the operator's, and stays. */
function noteOther({ misfits }: SourceContents, before: ModelEntry, entry: ModelEntry): void {
  const of = (one: ModelEntry, isPrice: boolean): string => {
    const { route, ...rest } = exactEntry(one)
    const prices = Object.entries(rest).filter(([name]) => /_pusd$|_nusd$/.test(name))
    const steps = ((route ?? []) as TomlValue[]).map((step) =>
      typeof step === 'string' ? step : (step as TomlTable)['to'],
    )
    return stable(isPrice ? Object.fromEntries(prices) : steps)
  }
  if (of(before, false) !== of(entry, false)) {
    addMisfit(misfits, 'its route here is another, and stays as it is', entry.id)
  }
  if (of(before, true) !== of(entry, true)) {
    addMisfit(misfits, 'its prices here are others, and stay as they are', entry.id)
  }
}

function newAliases(text: string, found: SourceContents, ids: ReadonlySet<string>) {
  const present = new Map(Object.entries(rawAliases(text)))
  const added: Record<string, string> = {}
  for (const [name, id] of Object.entries(found.aliases)) {
    const before = present.get(name)
    if (before === id) continue
    const why =
      before !== undefined
        ? 'an alias that names another model here'
        : !ids.has(id)
          ? 'an alias of a model that did not come over'
          : ids.has(name) || !/^[\w.:@/*-]{1,128}$/.test(name)
            ? 'an alias that cannot be one here'
            : undefined
    if (why === undefined) added[name] = id
    else addMisfit(found.misfits, why, name)
  }
  return added
}

type Parts = Pick<Proposal, 'upstreams' | 'added' | 'aliases'>

function textWith(text: string, { upstreams, added, aliases }: Parts): string | undefined {
  let changed: string | undefined = text
  for (const upstream of upstreams) {
    changed = changed === undefined ? undefined : withUpstream(changed, upstream)
  }
  if (changed !== undefined && added.length > 0) {
    changed = withModels(changed, [], added.map(inDollars))
  }
  if (changed === undefined || Object.keys(aliases).length === 0) return changed
  return withAliases(changed, { ...rawAliases(changed), ...aliases })
}

/** Raises the limits of plans in a proposal. */
export function raisePlans(proposal: Proposal, needed: ReadonlyMap<string, number>): void {
  for (const [plan, keys] of needed) {
    const { text } = proposal
    proposal.text = text === undefined ? undefined : withMaxKeys(text, plan, keys)
    proposal.raised.set(plan, keys)
  }
}
