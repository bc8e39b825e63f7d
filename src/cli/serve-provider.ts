/** `serve --dev --provider`: the models of a provider, without a line of configuration. */

import { readConfigText } from '../app/providers/config-file.ts'
import { priced, upstreamEntry, withProvider } from '../app/providers/provider-entries.ts'
import type { Config } from '../config/config.ts'
import { readConfigText as readConfigOf } from '../config/file.ts'
import { rawUpstreams } from '../config/model-text.ts'
import { Exit, exitCodes, say, toConfig } from './context.ts'
import { pathOf } from './model-changes.ts'
import { assertSettings, offersFrom, providerNamed } from './provider-offers.ts'

/**
 * The configuration of this process and the models of a provider at cost; its key comes from the
 * environment.
 * @throws Exit 2 without `--dev` or without a key, Exit 1 when the provider cannot be asked
 */
export async function configWith(id: string, options: Record<string, unknown>): Promise<Config> {
  if (options['dev'] !== true) {
    const why = `--provider is for --dev. To sell its models: counterfoil provider add ${id}`
    throw new Exit(exitCodes.usage, why)
  }
  const provider = providerNamed(id)
  assertSettings(provider, {})
  const { keyEnv = [], keysPage } = provider
  const variable = keyEnv.find((name) => process.env[name])
  if (keyEnv.length > 0 && variable === undefined) {
    throw new Exit(exitCodes.usage, `Set ${keyEnv[0]}. Keys are made at ${keysPage}.`)
  }
  const baseUrl = process.env[baseVariable(id)] || undefined
  const apiKey = variable === undefined ? undefined : process.env[variable]
  const { models } = await offersFrom(provider, { apiKey, settings: {}, baseUrl }, {})
  const file = { models, refused: [], leftOut: new Map<string, number>() }
  const { entries } = priced(file, { upstream: id })
  const text = readConfigText(pathOf(options))
  const key = variable === undefined ? undefined : { variable }
  const isThere = rawUpstreams(text).some((one) => one['id'] === id)
  const upstream = isThere ? undefined : upstreamEntry(provider, { id, settings: {}, baseUrl, key })
  const whole = withProvider(text, upstream, entries)
  if (whole === undefined) {
    const why = `${pathOf(options)} has models of ${provider.name} already: leave --provider out.`
    throw new Exit(exitCodes.failed, why)
  }
  say(`${provider.name}: ${models.length} models, such as ${models[0]?.id ?? 'none'}.`)
  return toConfig(readConfigOf(options, whole))
}

/** The variable that names another address of a provider, such as OPENAI_BASE_URL. */
const baseVariable = (id: string): string => `${id.toUpperCase().replaceAll('-', '_')}_BASE_URL`
