/** Asks a provider whether it takes a key and which models it has; neither costs anything. */

import type { OfferedModel } from '../price-files/price-file.ts'
import type { LimitName } from '../protocols/dialect.ts'
import type { ListedModel } from '../providers/model-list.ts'
import { readListPages } from '../providers/offers.ts'
import { type Provider, withSettings } from '../providers/provider.ts'
import { askFor, type CheckedServer, signerOf, type UpstreamCheck } from './check.ts'
import { signingFault } from './credentials.ts'
import { headersFor } from './server-address.ts'
import { type UpstreamKind, wireProtocols } from './wire-protocol.ts'

/** How the operator reaches a provider. */
export type ProviderAccess = {
  apiKey: string | undefined
  /** Values of the settings in braces of its URLs. */
  settings: Readonly<Record<string, string>>
  /** Another base of its API than the preset's. */
  baseUrl?: string | undefined
}

export type ProviderAnswer =
  | {
      status: 'ok'
      listed: ListedModel[]
      priced: OfferedModel[]
      /** False where no free page tells whether the key is valid. */
      isKeyProven: boolean
    }
  | { status: Exclude<UpstreamCheck['status'], 'ok' | 'misplaced'> }

/** Pages of one list: more than any provider has. */
const pagesMost = 20

/** @throws Error for a setting that is missing or cannot be part of a URL */
export async function askProvider(
  provider: Provider,
  { apiKey, settings, baseUrl }: ProviderAccess,
): Promise<ProviderAnswer> {
  const base = baseUrl ?? withSettings(provider.baseUrl, settings)
  const { kind = 'openai', auth, keyUrl, list } = provider
  const headers = headersFor(wireProtocols[kind], {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(auth === undefined ? {} : { auth }),
  })
  const { region } = settings
  const signing = { auth, base_url: base, region: auth === 'sigv4' ? region : undefined }
  if (signingFault(signing, apiKey) !== undefined) return { status: 'denied' }
  const signer = signerOf({ ...signing, api_key: apiKey })
  // A server at another address has only what is below its base.
  const isElsewhere = baseUrl !== undefined
  if (typeof keyUrl === 'string' && !isElsewhere) {
    const { status } = await askFor(withSettings(keyUrl, settings), headers)
    if (status !== 'ok') return { status }
  }
  const listUrl =
    list?.url === undefined || isElsewhere
      ? `${base.replace(/(?<!\/)\/+$/, '')}/models`
      : withSettings(list.url, settings)
  const texts: string[] = []
  for (let cursor: string | undefined; texts.length < pagesMost; ) {
    const answer = await askFor(
      pageOf(listUrl, list?.shape, cursor),
      withKey(list?.shape, headers, apiKey),
      { signer },
    )
    if (answer.status !== 'ok') return { status: answer.status }
    texts.push(answer.text)
    const next = nextOf(provider, answer.text)
    if (next === undefined || next === cursor) break
    cursor = next
  }
  try {
    const { listed, priced } = readListPages(provider, texts)
    return { status: 'ok', listed, priced, isKeyProven: keyUrl !== null }
  } catch {
    return { status: 'unlisted' }
  }
}

function nextOf(provider: Provider, text: string): string | undefined {
  try {
    return readListPages(provider, [text]).next
  } catch {
    return undefined
  }
}

function pageOf(list: string, shape: string | undefined, cursor: string | undefined): string {
  const url = new URL(list)
  if (shape === 'anthropic') url.searchParams.set('limit', '1000')
  if (shape === 'google') url.searchParams.set('pageSize', '1000')
  const name = { anthropic: 'after_id', google: 'pageToken', cohere: 'page_token' }[shape ?? '']
  if (cursor !== undefined && name !== undefined) url.searchParams.set(name, cursor)
  return url.href
}

/** Google's own list takes its key in a header of its own. */
const withKey = (
  shape: string | undefined,
  headers: Record<string, string>,
  apiKey: string | undefined,
): Record<string, string> => {
  if (shape !== 'google' || apiKey === undefined) return headers
  const { authorization: _, ...rest } = headers
  return { ...rest, 'x-goog-api-key': apiKey }
}

/** How a paid call of one token went. */
export type PaidCheck = { isFine: boolean; words: string }

/** Asks a model for one token, which its provider bills. */
export async function tryModel(upstream: CheckedServer, model: string): Promise<PaidCheck> {
  const { kind = 'openai', base_url: base, api_key: apiKey, auth } = upstream
  const headers = headersFor(wireProtocols[kind], {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(auth === undefined ? {} : { auth }),
    headers: { ...upstream.headers, ...upstream.secret_headers },
  })
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/${wireProtocols[kind].paths.chat}`
  for (const [name, value] of Object.entries(upstream.query ?? {}))
    url.searchParams.set(name, value)
  const answer = await askFor(url.href, headers, {
    body: smallest[kind](model, upstream.dialect?.limit ?? 'max_completion_tokens'),
    signer: signerOf(upstream),
  })
  return answer.status === 'ok'
    ? { isFine: true, words: 'answers' }
    : { isFine: false, words: `fails: ${answer.status}` }
}

/** The smallest request of each protocol: Responses has no answer below 16 tokens. */
const smallest: Record<UpstreamKind, (model: string, limit: LimitName) => object> = {
  openai: (model) => ({
    model,
    max_completion_tokens: 1,
    messages: [{ role: 'user', content: 'Hi' }],
  }),
  anthropic: (model) => ({ model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }),
  responses: (model) => ({ model, max_output_tokens: 16, store: false, input: 'Hi' }),
}
