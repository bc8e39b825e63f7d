/** Turns found models into the configuration that is proposed: upstreams, models, aliases. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KeyPlace, upstreamEntry } from '../../app/providers/provider-entries.ts'
import { rawAliases, withAliases } from '../../config/list-text.ts'
import { diffModels, type ModelDiff } from '../../config/model-diff.ts'
import {
  type ModelChange,
  rawModels,
  rawUpstreams,
  stable,
  withModels,
  withUpstream,
} from '../../config/model-text.ts'
import { inDollars } from '../../config/money-values.ts'
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
import { dearestOf, type MoreFacts, offeredBy } from './offered-models.ts'

export type Proposal = {
  /** Undefined if a person has to write it. */
  text: string | undefined
  diff: ModelDiff
  upstreams: TomlTable[]
  aliases: Record<string, string>
  /** Plans that need more keys, with their number. */
  raised: Map<string, number>
  /** Files of keys that are to be written, by their paths. */
  keyFiles: Map<string, string>
}

export type ProposalWish = { data: string; facts: MoreFacts; markup: Decimal | undefined }

export async function proposalOf(
  text: string,
  found: SourceContents,
  { data, facts, markup }: ProposalWish,
): Promise<Proposal> {
  const servers = new Servers(rawUpstreams(text), data)
  const entries: ModelEntry[] = []
  for (const model of found.models) {
    const entry = await entryOf(model, { found, servers, facts, markup })
    if (entry) entries.push(entry)
  }
  const diff = diffModels(rawModels(text), entries, undefined)
  noteRoutes(text, entries, found)
  const ids = new Set([...builtinModels, ...rawModels(text), ...entries].map(({ id }) => id))
  const aliases = newAliases(text, found, ids)
  return {
    text: textWith(text, { upstreams: servers.added, diff, aliases }),
    ...{ diff, upstreams: servers.added, aliases, keyFiles: servers.keyFiles },
    raised: new Map(),
  }
}

type EntryContext = {
  found: SourceContents
  servers: Servers
  facts: MoreFacts
  markup: Decimal | undefined
}

async function entryOf(
  { id, deployments }: FoundModel,
  { found, servers, facts, markup }: EntryContext,
): Promise<ModelEntry | undefined> {
  const left = (why: string): undefined => addMisfit(found.misfits, why, id) as undefined
  if (!/^[A-Za-z0-9][\w.:@/-]{0,127}$/.test(id)) return left('a name that cannot be an id here')
  if (builtinModels.some((model) => model.id === id)) return left('the id of a built-in model')
  const steps: { model: OfferedModel; deployment: Deployment }[] = []
  for (const deployment of deployments) {
    const model = await offeredBy(id, deployment, facts)
    const kind = steps[0]?.model.kind
    if (typeof model === 'string') left(model)
    else if (kind !== undefined && kind !== model.kind) left('servers of two kinds')
    else steps.push({ model, deployment })
  }
  const sold = dearestOf(steps.map(({ model }) => model))
  if (!sold) return undefined
  try {
    const { entry } = toEntry(sold, { upstream: '', factor: markup })
    const { bands, tiers, route: _, ...rest } = entry
    const priced = steps.map(({ model, deployment }): TomlValue => {
      const cost = costOf(model)
      const to = `${servers.idOf(deployment)}:${deployment.upstreamName}`
      return markup || stable(cost) !== stable(costOf(sold)) ? { to, cost } : to
    })
    const seen = new Set<string>()
    const route = priced.filter((step) => !seen.has(stable(step)) && seen.add(stable(step)))
    return { ...rest, id, route, ...(bands ? { bands } : {}), ...(tiers ? { tiers } : {}) }
  } catch (error) {
    return left((error as Error).message)
  }
}

const once: Decimal = { digits: 1n, scale: 0 }

/** The cost of a server, as a step of a route has it. */
function costOf(model: OfferedModel): TomlTable {
  const { entry } = toEntry(model, { upstream: '', factor: once })
  const [step] = (entry['route'] ?? []) as TomlTable[]
  return (step?.['cost'] ?? {}) as TomlTable
}

/** The upstreams of the configuration, and those that are added to them. */
class Servers {
  readonly added: TomlTable[] = []
  readonly keyFiles = new Map<string, string>()
  constructor(
    private readonly present: readonly TomlTable[],
    private readonly data: string,
  ) {}

  /** The id of the upstream of a deployment; a new one unless it is there. */
  idOf({ provider, baseUrl, key }: Deployment): string {
    const usesSame = (one: TomlTable): boolean => {
      if (key === undefined) return !one['api_key_env'] && !one['api_key_file']
      if ('variable' in key) return one['api_key_env'] === key.variable
      return this.secretIn(String(one['api_key_file'] ?? '')) === key.secret
    }
    const made = (id: string, place: KeyPlace | undefined) =>
      upstreamEntry(provider, { id, settings: {}, baseUrl, key: place })
    const wanted = made('', undefined)
    const all = [...this.present, ...this.added]
    const known = all.find((one) => one['base_url'] === wanted['base_url'] && usesSame(one))
    if (known) return String(known['id'])
    const id = this.freeId(provider.id, new Set(all.map((one) => String(one['id']))))
    const file = join(this.data, 'keys', id)
    if (key && 'secret' in key) this.keyFiles.set(file, key.secret)
    const place = key && ('variable' in key ? { variable: key.variable } : { file })
    const entry = made(id, place)
    const { auth: _, ...keyed } = entry
    this.added.push(entry['auth'] === 'none' && place ? keyed : entry)
    return id
  }

  private freeId(id: string, taken: ReadonlySet<string>): string {
    const isFree = (one: string) => !taken.has(one) && !existsSync(join(this.data, 'keys', one))
    if (isFree(id)) return id
    for (let at = 2; ; at++) if (isFree(`${id}-${at}`)) return `${id}-${at}`
  }

  private secretIn(file: string): string | undefined {
    const fresh = this.keyFiles.get(file)
    if (fresh !== undefined || file === '') return fresh
    try {
      return readFileSync(file, 'utf8').trim()
    } catch {
      return undefined
    }
  }
}

/** Names models whose route is another here: it is the operator's, and stays. */
function noteRoutes(
  text: string,
  entries: readonly ModelEntry[],
  { misfits }: SourceContents,
): void {
  const present = new Map(rawModels(text).map((entry) => [entry.id, entry]))
  const places = (entry: ModelEntry | undefined) =>
    ((entry?.['route'] ?? []) as TomlValue[]).map((step) =>
      typeof step === 'string' ? step : (step as TomlTable)['to'],
    )
  for (const entry of entries) {
    const before = present.get(entry.id)
    if (before && stable(places(before)) !== stable(places(entry))) {
      addMisfit(misfits, 'its route here is another, and stays as it is', entry.id)
    }
  }
}

function newAliases(text: string, found: SourceContents, ids: ReadonlySet<string>) {
  const present = rawAliases(text)
  const added: Record<string, string> = {}
  for (const [name, id] of Object.entries(found.aliases)) {
    if (present[name] === id) continue
    const why =
      present[name] !== undefined
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

type Parts = Pick<Proposal, 'upstreams' | 'diff' | 'aliases'>

function textWith(text: string, { upstreams, diff, aliases }: Parts): string | undefined {
  let changed: string | undefined = text
  for (const upstream of upstreams) {
    changed = changed === undefined ? undefined : withUpstream(changed, upstream)
  }
  const changes: ModelChange[] = diff.changed
  if (changed !== undefined && changes.length + diff.added.length > 0) {
    changed = withModels(changed, changes, diff.added.map(inDollars))
  }
  return changed === undefined ? undefined : withAliases(changed, aliases)
}
