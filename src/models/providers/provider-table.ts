/** Writes the table of all presets, as the documentation has it. */
import { providers } from './presets.ts'
import type { Provider } from './provider.ts'

const kinds = { openai: 'Chat Completions', anthropic: 'Messages', responses: 'Responses' } as const

/** A line of Markdown for each provider. */
export const providerTable = (): string =>
  [
    '| id | provider | protocol | key | prices |',
    '|---|---|---|---|---|',
    ...providers.map(lineOf),
  ].join('\n')

function lineOf(provider: Provider): string {
  const { id, name, kind = 'openai', keyEnv, keysPage } = provider
  const variable = keyEnv === undefined ? 'none' : `\`${keyEnv[0]}\``
  const key = keysPage === undefined ? variable : `[${variable}](${keysPage})`
  return `| \`${id}\` | ${name} | ${kinds[kind]} | ${key} | ${pricesOf(provider)} |`
}

function pricesOf({ prices, listPrices, list, isLocal }: Provider): string {
  if (isLocal) return 'free'
  const own = listPrices !== undefined || list?.shape === 'openrouter'
  return own ? 'its own list' : prices === undefined ? 'yours' : 'embedded'
}
