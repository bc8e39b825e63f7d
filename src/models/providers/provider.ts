/** Describes a provider of models well enough that its name and a key are all that one needs. */
import type { UsdRates } from '../price-files/price-file.ts'
import type { Dialect } from '../protocols/dialect.ts'
import type { SigningAuth } from '../upstream/credentials.ts'
import type { UpstreamKind } from '../upstream/wire-protocol.ts'

/** The shape of a provider's list of models. */
export type ModelListShape = 'openai' | 'openrouter' | 'anthropic' | 'google' | 'cohere' | 'github'

/** The place of the prices in an entry of a provider's list. */
export type ListPrices = {
  /** The path to the object that has them. */
  at: readonly string[]
  /** Whether they are USD a token, USD a million tokens, or pico-USD a token. */
  unit: 'token' | 'million' | 'pusd'
  /** Our names of its members. */
  fields: Readonly<Record<string, keyof UsdRates>>
}

/** Public facts about one provider, without a secret. */
export type Provider = {
  /** Its name in commands, and the default id of its upstream. */
  id: string
  name: string
  /** The protocol that it speaks; Chat Completions when absent. */
  kind?: UpstreamKind
  /**
   * The base of its API. A name in braces, such as `{region}`, is a setting that `provider add`
   * asks for.
   */
  baseUrl: string
  /** Environment variables in which its key is usually found; none for a server without keys. */
  keyEnv?: readonly string[]
  auth?: 'bearer' | 'x-api-key' | 'none' | SigningAuth
  /** Its list of models, if it is not `<baseUrl>/models` in OpenAI's shape. */
  list?: { url?: string; shape?: ModelListShape }
  /**
   * A free URL that is refused without a valid key, where the list of models is open to all. Null
   * where none is documented: then only a paid call proves a key.
   */
  keyUrl?: string | null
  /** The page on which keys are made. */
  keysPage?: string
  /** Its id in the embedded price data, if that has its prices. */
  prices?: string
  /** The prices in its own list of models, which are newer than the data. */
  listPrices?: ListPrices
  /** Whether it runs on the operator's own machines: its models cost nothing a token. */
  isLocal?: boolean
  /** How it departs from its protocol. */
  dialect?: Pick<Dialect, 'limit' | 'without' | 'developer'>
  /** Models that it lists and that its upstream of this kind cannot serve. */
  leaveOut?: RegExp
}

/** Whether a text can be the base of an API: a URL without a credential, a query or a fragment. */
export function isBaseUrl(text: string): boolean {
  const url = URL.parse(text)
  const { protocol = '', username, password, search, hash } = url ?? {}
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}

/** The settings in braces of a base URL, in order. */
export const settingsIn = ({ baseUrl }: Pick<Provider, 'baseUrl'>): string[] => [
  ...new Set([...baseUrl.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) => name)),
]

/** @throws Error that names a setting which is missing or cannot be part of a URL */
export function withSettings(text: string, settings: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = settings[name]
    if (value === undefined) throw new Error(`the setting "${name}" is missing`)
    if (!/^[\w.-]{1,128}$/.test(value)) throw new Error(`"${value}" cannot be the ${name} of a URL`)
    return value
  })
}
