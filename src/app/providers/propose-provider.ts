/** Makes the change of the configuration file that adds a provider, for an operator to confirm. */
import { diffModels } from '../../config/model-diff.ts'
import { faultsIn, rawModels, rawUpstreams } from '../../config/model-text.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Decimal } from '../../kernel/decimal.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import type { OfferedModel } from '../../models/price-files/price-file.ts'
import type { ReloadResult } from '../reload-port.ts'
import { askOffers, chooseModels, lackingNames, type ProvenOffers } from './ask.ts'
import { canReplace, readConfigText } from './config-file.ts'
import type { ProposedModel, ProviderDraft, ProviderProposal, ProviderWish } from './desk-port.ts'
import { keyFileFor } from './key-file.ts'
import {
  discountsAbove,
  noMarkup,
  notesOf,
  otherServerOf,
  priced,
  priceOf,
  saleOf,
  upstreamEntry,
  withProvider,
} from './provider-entries.ts'
import { type DeskPlace, writeChange } from './write-change.ts'

/** @throws Refusal 'invalid_request' that names the field, 'conflict' */
export async function proposeProvider(
  place: DeskPlace,
  wish: ProviderWish,
  now: Millis,
): Promise<ProviderProposal> {
  const { path, config } = place
  const { provider, id, key, settings, at, markup } = wish
  const offers = await offersFor(wish, now)
  const models = selected(offers, wish.globs)
  const text = readConfigText(path)
  const there = rawUpstreams(text).find((one) => one['id'] === id)
  const present = there !== undefined
  const other = otherServerOf(there, provider, { settings, baseUrl: at })
  if (other !== undefined) refuseField('id', `"${id}" is at ${other}: choose another name.`)
  const file = { models: [...models], refused: [], leftOut: new Map<string, number>() }
  const { entries } = priced(file, { upstream: id, markup: markup ?? noMarkup })
  const { added, left } = diffModels(rawModels(text), entries, id)
  if (present && added.length === 0) {
    refuseField('models', `The upstream "${id}" sells all of these models already.`)
  }
  const keyFile = keyFileFor(config.data, id)
  const stored = key === undefined || present ? undefined : { secret: key, file: keyFile }
  const own = { id, settings, baseUrl: at, key: stored && { file: stored.file } }
  const fresh = withProvider(text, present ? undefined : upstreamEntry(provider, own), added)
  const addition = fresh?.slice(withAddition(text, '').length)
  if (fresh === undefined || addition === undefined || fresh !== withAddition(text, addition)) {
    return refuse('conflict', `${path} cannot be changed safely: add the provider there by hand.`)
  }
  const faults = faultsIn(fresh)
  if (faults[0] !== undefined) refuse('conflict', `${path} would be invalid: ${faults[0]}`)
  const ids = new Set(added.map((model) => model.id))
  return {
    draft: {
      upstream: id,
      provider: provider.id,
      models: [...ids],
      addition,
      before: sha256Hex(text),
      after: sha256Hex(fresh),
      key: stored,
    },
    models: models.filter((model) => ids.has(model.id)).map((model) => shown(model, markup)),
    notes: [
      ...(present ? [`The upstream "${id}" is there already: its key stays as it is.`] : []),
      ...left.map((one) => `Left as it is: ${one.id}, because ${one.why}.`),
      ...notesOf(file, undefined),
      ...discountsAbove(config, markup),
      ...lacking(offers, wish.globs),
      ...(offers.isKeyProven ? [] : [`No free page of ${provider.name} proves a key.`]),
    ],
    path,
    isWritable: canReplace(path),
    others: config.database_url.startsWith('sqlite:') ? undefined : commandOf(wish),
  }
}

async function offersFor(wish: ProviderWish, now: Millis): Promise<ProvenOffers> {
  const { provider, key: apiKey, settings, at: baseUrl, input, output, contextTokens } = wish
  const prices = input && { input_pusd: input, ...(output && { output_pusd: output }) }
  const own = { contextTokens, prices }
  const offers = await askOffers(provider, { apiKey, settings, baseUrl }, own, now)
  if ('refused' in offers) refuseField(apiKey === undefined ? 'at' : 'key', offers.refused)
  return offers
}

function selected(offers: ProvenOffers, globs: readonly string[]): readonly OfferedModel[] {
  const choice = chooseModels(offers, globs)
  if (choice.status === 'ok') return choice.models
  if (choice.status === 'too_many') {
    const { count, example } = choice
    return refuseField('models', `It has ${count} models: name those to sell, such as ${example}.`)
  }
  return refuseField('models', [choice.why, ...lacking(offers, globs)].join(' '))
}

function lacking({ incomplete }: ProvenOffers, globs: readonly string[]): string[] {
  const { unpriced, unbounded, unmetered } = lackingNames(incomplete, globs)
  return [
    ...(unpriced ? [`No price is published of ${unpriced}: name it and enter its prices.`] : []),
    ...(unbounded ? [`No context is published of ${unbounded}: name it and enter one.`] : []),
    ...(unmetered ? [`Billed by units without a meter here: ${unmetered}.`] : []),
  ]
}

const shown = ({ id, kind, rates }: OfferedModel, markup: Decimal | undefined): ProposedModel => {
  const prices = (factor: Decimal | undefined) => ({
    input: priceOf(saleOf(rates.input_pusd, factor)),
    output: kind === 'chat' ? priceOf(saleOf(rates.output_pusd, factor)) : '–',
  })
  return { id, kind, cost: prices(undefined), sale: prices(markup) }
}

/** The command that adds the same on another machine; it asks for the key. */
function commandOf({ provider, id, settings, at, globs, ...wish }: ProviderWish): string {
  const price = (name: string, usd: Decimal | undefined) =>
    usd ? [`--${name} '${priceOf(usd).replaceAll(' ', '')}'`] : []
  return [
    `counterfoil provider add ${provider.id}`,
    ...(id === provider.id ? [] : [`--id ${id}`]),
    ...Object.entries(settings).map(([name, value]) => `--set ${name}=${value}`),
    ...(at === undefined ? [] : [`--at ${quoted(at)}`]),
    ...(globs.length === 0 ? [] : [`--models ${quoted(globs.join(','))}`]),
    ...(wish.markup ? [`--markup ${percentOf(wish.markup)}`] : []),
    ...price('input', wish.input),
    ...price('output', wish.output),
    ...(wish.contextTokens === undefined ? [] : [`--context ${wish.contextTokens}`]),
  ].join(' ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** 1.08 as `8%`. */
function percentOf({ digits, scale }: Decimal): string {
  const whole = 10n ** BigInt(scale)
  const percent = ((digits - whole) * 100n * 10_000_000_000n) / whole
  const text = (Number(percent) / 1e10).toString()
  return `${text}%`
}

/** @throws Refusal 'conflict'; nothing has changed then */
export const writeProvider = (place: DeskPlace, draft: ProviderDraft): Promise<ReloadResult> =>
  writeChange(place, draft, (text) => withAddition(text, draft.addition))

/** The text of a file with an addition behind its end. */
const withAddition = (text: string, addition: string): string =>
  `${text === '' ? '' : `${text.trimEnd()}\n\n`}${addition}`
