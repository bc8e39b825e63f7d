/** Makes the entries of the configuration from what a provider or a price file offers. */
import { matches } from '../../access/keys/key.ts'
import { makePlans } from '../../access/plan-config.ts'
import type { Config } from '../../config/config.ts'
import { withModels, withUpstream } from '../../config/model-text.ts'
import { inDollars } from '../../config/money-values.ts'
import { type Decimal, multiplyDecimals, roundUp } from '../../kernel/decimal.ts'
import { toPrice } from '../../kernel/money.ts'
import { builtinModels } from '../../models/builtins.ts'
import { ofResponses } from '../../models/price-files/litellm.ts'
import { type ModelEntry, type TomlTable, toEntry } from '../../models/price-files/price-entry.ts'
import type { PriceFile } from '../../models/price-files/price-file.ts'
import { type Provider, withSettings } from '../../models/providers/provider.ts'
import { sayingOf } from '../logging.ts'

/** How imported models are routed and sold. */
export type Sale = { upstream?: string | undefined; markup?: Decimal | undefined }

/** The entries of models, and how many of their rates were rounded up. */
export type PricedEntries = { entries: ModelEntry[]; rates: number; rounded: number }

/** Turns models into entries; one whose price cannot be written joins the refused ones. */
export function priced(file: PriceFile, { upstream, markup: factor }: Sale): PricedEntries {
  const entries: ModelEntry[] = []
  const count = { rates: 0, rounded: 0 }
  for (const model of file.models) {
    if (builtinModels.some(({ id }) => id === model.id)) {
      file.leftOut.set('the id of a built-in model', 1)
      continue
    }
    try {
      const { entry, rates, rounded } = toEntry(model, { upstream, factor })
      entries.push(entry)
      count.rates += rates
      count.rounded += rounded
    } catch (error) {
      file.refused.push({ id: model.id, dimensions: [sayingOf(error)] })
    }
  }
  return { entries, ...count }
}

/** Models whose id or name fits one of the globs; all without globs. */
export const chosen = <M extends { id: string; upstreamName: string }>(
  models: readonly M[],
  globs: readonly string[],
): M[] =>
  models.filter(
    ({ id, upstreamName }) =>
      globs.length === 0 || globs.some((glob) => matches(glob, id) || matches(glob, upstreamName)),
  )

/** Plans whose discount is more than the markup, in sentences; without one models sell at cost. */
export function discountsAbove({ plans, limits }: Config, markup: Decimal | undefined): string[] {
  const times = markup ? Number(markup.digits) / 10 ** markup.scale : 1
  return makePlans(plans, limits).list.flatMap(({ id, discountBps: bps }) =>
    bps === 0 || times * (1 - bps / 10_000) >= 1
      ? []
      : [
          `Below cost: plan ${id} takes ${bps / 100} % off, which is more than this markup. Set ` +
            'its discount_bps in [[plans]], or raise the markup.',
        ],
  )
}

/** A cost with its markup. */
export const saleOf = (usd: Decimal | undefined, markup: Decimal | undefined) =>
  usd && markup ? multiplyDecimals(usd, markup) : usd

/** Price a million tokens, such as `$0.15 / M`. */
export const priceOf = (usd: Decimal | undefined): string =>
  usd === undefined ? '–' : `$${toPrice(roundUp(usd, 12).value).replace('/M', ' / M')}`

/** How many models a note names. */
const idsOfNote = 5

/** Returns each note once, with the ids of its models. */
export function notesOf({ models }: PriceFile, upstream: Config['upstreams'][number] | undefined) {
  const ids = new Map<string, string[]>()
  for (const { id, notes } of models) {
    for (const note of new Set(notes)) ids.set(note, [...(ids.get(note) ?? []), id])
  }
  if (upstream?.kind === 'responses') ids.delete(ofResponses)
  return [...ids].map(([note, of]) => {
    const more = of.length > idsOfNote ? ` and ${of.length - idsOfNote} more` : ''
    return `${note} (${of.slice(0, idsOfNote).join(', ')}${more}).`
  })
}

/** The place of a key: a variable or a file. */
export type KeyPlace = { variable?: string; file?: string }

export type NewUpstream = {
  id: string
  settings: Record<string, string>
  baseUrl: string | undefined
  /** Undefined for a server without keys. */
  key: KeyPlace | undefined
}

/** The `[[upstreams]]` of a provider, with the facts of its preset. */
export function upstreamEntry(provider: Provider, own: NewUpstream): TomlTable {
  const { kind, auth, dialect } = provider
  const { region } = own.settings
  const { limit, without, developer } = dialect ?? {}
  const facts: Record<string, TomlTable[string]> = {
    ...(limit === undefined ? {} : { limit }),
    ...(without === undefined ? {} : { without }),
    ...(developer === undefined ? {} : { developer }),
  }
  return {
    id: own.id,
    ...(kind === undefined ? {} : { kind }),
    base_url: own.baseUrl ?? withSettings(provider.baseUrl, own.settings),
    ...(auth === undefined ? {} : { auth }),
    ...(auth === 'sigv4' && region !== undefined ? { region } : {}),
    ...(own.key?.variable === undefined ? {} : { api_key_env: own.key.variable }),
    ...(own.key?.file === undefined ? {} : { api_key_file: own.key.file }),
    ...(Object.keys(facts).length === 0 ? {} : { dialect: facts }),
  }
}

/** The address of an upstream that is there under this id, if it is another server. */
export function otherServerOf(
  present: TomlTable | undefined,
  provider: Provider,
  { settings, baseUrl }: Pick<NewUpstream, 'settings' | 'baseUrl'>,
): string | undefined {
  if (!present) return undefined
  const bare = (url: string) => url.replace(/(?<!\/)\/+$/, '')
  const there = bare(String(present['base_url']))
  return there === bare(baseUrl ?? withSettings(provider.baseUrl, settings)) ? undefined : there
}

/** At cost: the cost is written beside the price, so that both can be told apart later. */
export const noMarkup: Decimal = { digits: 1n, scale: 0 }

/** The text of a configuration with an upstream and models; undefined if a person has to do it. */
export function withProvider(
  text: string,
  upstream: TomlTable | undefined,
  models: readonly ModelEntry[],
): string | undefined {
  const withIt = upstream ? withUpstream(text, upstream) : text
  return withIt === undefined ? undefined : withModels(withIt, [], models.map(inDollars))
}
