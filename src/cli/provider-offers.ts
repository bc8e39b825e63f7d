/** Shared by the commands about providers: the key, the question to the provider, the entries. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { matches } from '../access/keys/key.ts'
import { sayingOf } from '../app/logging.ts'
import { withModels, withUpstream } from '../config/model-text.ts'
import { inDollars } from '../config/money-values.ts'
import { systemClock } from '../kernel/clock.ts'
import { type Decimal, multiplyDecimals, roundUp } from '../kernel/decimal.ts'
import { parsePrice, toPrice } from '../kernel/money.ts'
import type { ModelEntry, TomlTable } from '../models/price-files/price-entry.ts'
import type { OfferedModel } from '../models/price-files/price-file.ts'
import { type Offers, type OwnFacts, offersOf } from '../models/providers/offers.ts'
import { findProvider, similarTo } from '../models/providers/presets.ts'
import { type Provider, settingsIn, withSettings } from '../models/providers/provider.ts'
import { askProvider, type ProviderAccess } from '../models/upstream/ask-provider.ts'
import { Exit, exitCodes } from './context.ts'
import { upstreamWords } from './models.ts'
import { promptSecret } from './secret-prompt.ts'

const usage = (message: string) => new Exit(exitCodes.usage, message)

/** @throws Exit 2 that names similar ones */
export function providerNamed(id: string): Provider {
  const provider = findProvider(id)
  if (provider) return provider
  const near = similarTo(id)
  const hint = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''
  throw usage(
    `"${id}" has no preset.${hint} counterfoil provider list has all of them; ` +
      'any other server is an [[upstreams]] of the configuration file.',
  )
}

/** `region=eu-west-1` as settings of a base URL. */
export function readSetting(text: string, before: Record<string, string> = {}) {
  const [, name, value] = /^(\w+)=(.+)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw usage(`"${text}" is not name=value`)
  return { ...before, [name]: value }
}

/** @throws Exit 2 that names the settings of a base URL that are missing */
export function assertSettings(provider: Provider, settings: Record<string, string>): void {
  const missing = settingsIn(provider).filter((name) => settings[name] === undefined)
  if (missing.length === 0) return
  const flags = missing.map((name) => `--set ${name}=…`).join(' ')
  throw usage(`${provider.name} is at ${provider.baseUrl}: add ${flags}`)
}

export type FoundKey = { key: string | undefined; variable: string | undefined }

/** The key of a provider: from a file, a variable that usually holds it, or the terminal. */
export async function findKey(provider: Provider, keyFile: string | undefined): Promise<FoundKey> {
  const { keyEnv = [], keysPage, name } = provider
  if (keyFile !== undefined) return { key: keyIn(keyFile), variable: undefined }
  const variable = keyEnv.find((one) => process.env[one])
  if (variable !== undefined) {
    const key = process.env[variable]?.trim() ?? ''
    if (isKey(key)) return { key, variable }
    throw usage(`${variable} holds no key: it must be one line without spaces`)
  }
  if (keyEnv.length === 0) return { key: undefined, variable: undefined }
  const page = keysPage === undefined ? '' : ` Keys are made at ${keysPage}.`
  const otherwise = `Set ${keyEnv[0]} or name a file with --key-file (- for stdin).${page}`
  const key = await promptSecret(`Key of ${name} (not shown):`, otherwise)
  if (!isKey(key)) throw usage(otherwise)
  return { key, variable: undefined }
}

/** Whether it can stand in a header as it is. */
const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

function keyIn(file: string): string {
  try {
    const key = readFileSync(file === '-' ? 0 : file, 'utf8').trim()
    if (isKey(key)) return key
  } catch (error) {
    throw new Exit(exitCodes.failed, `${file} cannot be read: ${sayingOf(error)}`)
  }
  throw usage(`${file} holds no key: it must be one line without spaces`)
}

/** Asks the provider. @throws Exit 1 with what went wrong and what to do */
export async function offersFrom(
  provider: Provider,
  access: ProviderAccess,
  own: OwnFacts,
): Promise<Offers & { isKeyProven: boolean }> {
  const answer = await askProvider(provider, access)
  if (answer.status !== 'ok') {
    const words = answer.status === 'denied' ? 'rejects the key' : upstreamWords[answer.status]
    const page = answer.status === 'denied' ? ` Keys are made at ${provider.keysPage ?? 'it'}.` : ''
    throw new Exit(exitCodes.failed, `${provider.name} ${words}.${page} Nothing was changed.`)
  }
  const offers = await offersOf(provider, answer, own, systemClock.now())
  return { ...offers, isKeyProven: answer.isKeyProven }
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

/** `$0.15/M` or `0.15`, as USD a token. @throws Exit 2 */
export function readTokenPrice(text: string): Decimal {
  const pusd = parsePrice(text.replace(/^\$/, '').replace(/(?<!\/ ?M)$/, '/M'))
  if (pusd !== undefined) return { digits: pusd, scale: 12 }
  throw usage(`"${text}" is not a price; use dollars a million tokens, such as "$0.15/M"`)
}

/** Price a million tokens, such as `$0.15 / M`. */
export const priceOf = (usd: Decimal | undefined): string =>
  usd === undefined ? '–' : `$${toPrice(roundUp(usd, 12).value).replace('/M', ' / M')}`

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
    ...(own.key?.variable === undefined ? {} : { api_key_env: own.key.variable }),
    ...(own.key?.file === undefined ? {} : { api_key_file: own.key.file }),
    ...(Object.keys(facts).length === 0 ? {} : { dialect: facts }),
  }
}

/** The text of a configuration with an upstream and models; undefined if a person has to do it. */
export function withProvider(
  text: string,
  upstream: TomlTable | undefined,
  models: readonly ModelEntry[],
): string | undefined {
  const withIt = upstream ? withUpstream(text, upstream) : text
  return withIt === undefined ? undefined : withModels(withIt, [], models.map(inDollars))
}

/** The file in the data folder that keeps a provider's key. */
export function keyFileFor(data: string, id: string): string {
  const first = join(data, 'keys', id)
  if (!existsSync(first)) return first
  for (let at = 2; ; at++) {
    if (!existsSync(`${first}-${at}`)) return `${first}-${at}`
  }
}

/** A line for each model: its id and the prices that it is sold at. */
export const linesOf = (models: readonly OfferedModel[], markup: Decimal | undefined): string[] =>
  models.map(({ id, kind, rates }) => {
    const sold = (usd: Decimal | undefined) =>
      priceOf(usd && markup ? multiplyDecimals(usd, markup) : usd)
    const out = kind === 'chat' ? `, ${sold(rates.output_pusd)} out` : ''
    return `${id}  ${sold(rates.input_pusd)} in${out}`
  })
