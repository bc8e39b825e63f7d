/** Shared by the commands about providers: the key, the question to the provider, the prices. */
import { readFileSync } from 'node:fs'
import { sayingOf } from '../app/logging.ts'
import { askOffers, type ProvenOffers } from '../app/providers/ask.ts'
import { priceOf, saleOf } from '../app/providers/provider-entries.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Decimal } from '../kernel/decimal.ts'
import { parseTypedPrice } from '../kernel/money.ts'
import type { OfferedModel } from '../models/price-files/price-file.ts'
import type { OwnFacts } from '../models/providers/offers.ts'
import { findProvider, similarTo } from '../models/providers/presets.ts'
import { type Provider, settingsIn } from '../models/providers/provider.ts'
import type { ProviderAccess } from '../models/upstream/ask-provider.ts'
import { readAwsKey, readServiceAccount } from '../models/upstream/credentials.ts'
import { Exit, exitCodes } from './context.ts'
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
export async function findKey(
  provider: Provider,
  { keyFile, keyEnv: named }: { keyFile?: string; keyEnv?: string },
): Promise<FoundKey> {
  const { keysPage, name } = provider
  const keyEnv = named === undefined ? (provider.keyEnv ?? []) : [named]
  if (keyFile !== undefined) return { key: keyIn(keyFile, provider), variable: undefined }
  const usual = named === undefined ? usualKey(provider) : undefined
  if (usual !== undefined) return { key: usual, variable: undefined }
  const variable = keyEnv.find((one) => process.env[one])
  if (variable !== undefined) {
    const key = process.env[variable]?.trim() ?? ''
    if (isKey(key, provider)) return { key, variable }
    throw usage(`${variable} holds no key${formOf(provider)}`)
  }
  if (keyEnv.length === 0) return { key: undefined, variable: undefined }
  const page = keysPage === undefined ? '' : ` Keys are made at ${keysPage}.`
  const otherwise = `Set ${keyEnv[0]} or name a file with --key-file (- for stdin).${page}`
  const key = await promptSecret(`Key of ${name} (not shown):`, otherwise)
  if (!isKey(key, provider)) throw usage(otherwise)
  return { key, variable: undefined }
}

/** Whether it can stand in a header as it is, or sign. */
function isKey(text: string, { auth }: Provider): boolean {
  if (auth === 'sigv4') return readAwsKey(text) !== undefined
  if (auth === 'google') return readServiceAccount(text) !== undefined
  return /^[\x21-\x7e]+$/.test(text)
}

/** The key where other tools of AWS and Google find theirs. */
function usualKey(provider: Provider): string | undefined {
  const { env } = process
  if (provider.auth === 'sigv4') {
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = env
    return id && secret ? [id, secret, ...(token ? [token] : [])].join(':') : undefined
  }
  const { GOOGLE_APPLICATION_CREDENTIALS: file } = env
  return provider.auth === 'google' && file ? keyIn(file, provider) : undefined
}

const formOf = ({ auth }: Provider): string =>
  auth === 'sigv4'
    ? ': it must be ID:SECRET or ID:SECRET:SESSION_TOKEN'
    : auth === 'google'
      ? ': it must be the JSON of a key of a service account'
      : ': it must be one line without spaces'

function keyIn(file: string, provider: Provider): string {
  try {
    const key = readFileSync(file === '-' ? 0 : file, 'utf8').trim()
    if (isKey(key, provider)) return key
  } catch (error) {
    throw new Exit(exitCodes.failed, `${file} cannot be read: ${sayingOf(error)}`)
  }
  throw usage(`${file} holds no key${formOf(provider)}`)
}

/** Asks the provider. @throws Exit 1 with what went wrong and what to do */
export async function offersFrom(
  provider: Provider,
  access: ProviderAccess,
  own: OwnFacts,
): Promise<ProvenOffers> {
  const offers = await askOffers(provider, access, own, systemClock.now())
  if (!('refused' in offers)) return offers
  throw new Exit(exitCodes.failed, `${offers.refused} Nothing was changed.`)
}

/** `$0.15/M` or `0.15`, as USD a token. @throws Exit 2 */
export function readTokenPrice(text: string): Decimal {
  const pusd = parseTypedPrice(text)
  if (pusd !== undefined) return { digits: pusd, scale: 12 }
  throw usage(`"${text}" is not a price; use dollars a million tokens, such as '$0.15/M'`)
}

/** A line for each model: its id and the prices that it is sold at. */
export const linesOf = (models: readonly OfferedModel[], markup: Decimal | undefined): string[] =>
  models.map(({ id, kind, rates }) => {
    const sold = (usd: Decimal | undefined) => priceOf(saleOf(usd, markup))
    const out = kind === 'chat' ? `, ${sold(rates.output_pusd)} out` : ''
    return `${id}  ${sold(rates.input_pusd)} in${out}`
  })
