/** Adds providers to the configuration file of a running server; types alone. */
import type { Decimal } from '../../kernel/decimal.ts'
import type { Provider } from '../../models/providers/provider.ts'
import type { ReloadResult } from '../reload-port.ts'

/** A provider that is to be added, and how its models are sold. */
export type ProviderWish = {
  provider: Provider
  /** Id of the upstream. */
  id: string
  key: string | undefined
  /** Values of the settings in braces of its address. */
  settings: Readonly<Record<string, string>>
  /** Where its API begins, in place of the preset. */
  at: string | undefined
  /** Models to sell; all without one. */
  globs: readonly string[]
  markup: Decimal | undefined
  /** USD a token, where none is published. */
  input: Decimal | undefined
  output: Decimal | undefined
  contextTokens: number | undefined
}

/** A model that is to be sold; prices a million tokens, such as "$0.15 / M". */
export type ProposedModel = {
  id: string
  kind: 'chat' | 'embedding'
  cost: { input: string; output: string }
  sale: { input: string; output: string }
}

/** A change of the configuration file that nothing has made yet. */
export type ProviderDraft = {
  upstream: string
  provider: string
  models: readonly string[]
  /** Stands behind the end of the file, as TOML. */
  addition: string
  /** SHA-256 of the file before, and of the file with the addition. */
  before: string
  after: string
  /** The key, and the new file that is to keep it; undefined where none is stored. */
  key: { secret: string; file: string } | undefined
}

export type ProviderProposal = {
  draft: ProviderDraft
  models: readonly ProposedModel[]
  /** Sentences for the operator. */
  notes: readonly string[]
  /** The file that is to be changed. */
  path: string
  /** Whether this server can write it. */
  isWritable: boolean
  /** Does the same on another node; undefined where this server is the only one. */
  others: string | undefined
}

export type ProviderDesk = {
  /**
   * Asks the provider for its models, which costs nothing and proves the key. Changes nothing.
   * @throws Refusal 'invalid_request' that names the field, 'conflict'
   */
  propose(wish: ProviderWish): Promise<ProviderProposal>
  /**
   * Writes key and file as they were proposed, and reads the configuration again.
   * @throws Refusal 'conflict' where the file changed since or cannot be written; it is as before
   */
  write(draft: ProviderDraft): Promise<ReloadResult>
}
