import { afterAll, describe, expect, test } from 'bun:test'
import { upstreamEntry } from '../../../src/app/providers/provider-entries.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { withUpstream } from '../../../src/config/model-text.ts'
import { providerBody } from '../../../src/front/admin/shapes.ts'
import { readModelList } from '../../../src/models/providers/model-list.ts'
import { offersOf } from '../../../src/models/providers/offers.ts'
import { findProvider, providers } from '../../../src/models/providers/presets.ts'
import { type Provider, settingsIn } from '../../../src/models/providers/provider.ts'
import { askProvider } from '../../../src/models/upstream/ask-provider.ts'
import { isSigning } from '../../../src/models/upstream/credentials.ts'

const settingsOf = (provider: Provider) =>
  Object.fromEntries(settingsIn(provider).map((name) => [name, 'made-up']))

const keyOf = ({ auth }: Provider): string =>
  auth === 'sigv4'
    ? 'AKIDEXAMPLE:secret'
    : auth === 'google'
      ? JSON.stringify({ client_email: 'me@project', private_key: 'secret' })
      : 'secret'

describe('the presets', () => {
  test('at least forty providers have one, each with an id of its own', () => {
    expect(providers.length).toBeGreaterThanOrEqual(40)
    expect(new Set(providers.map(({ id }) => id)).size).toBe(providers.length)
    expect(findProvider('groq')?.name).toBe('Groq')
    expect(findProvider('constructor')).toBeUndefined()
  })

  test.each(providers.map((provider) => [provider.id, provider] as const))(
    '%s becomes an upstream that the configuration takes',
    (id, provider) => {
      const key = provider.keyEnv ? { variable: 'ITS_KEY' } : undefined
      const own = { id, settings: settingsOf(provider), baseUrl: undefined, key }
      const fileText = withUpstream('', upstreamEntry(provider, own))
      const loaded = loadConfig({
        ...{ flags: {}, env: { ITS_KEY: keyOf(provider) }, fileText, filePath: 'counterfoil.toml' },
        readFile: () => undefined,
      })
      if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
      expect(loaded.config.upstreams).toHaveLength(1)
      expect(loaded.config.upstreams[0]?.api_key).toBe(
        provider.keyEnv ? keyOf(provider) : undefined,
      )
    },
  )

  test('the operator’s page has a field for every part of an address', () => {
    const parts = [...new Set(providers.flatMap(settingsIn))]
    expect(Object.keys(providerBody.properties)).toEqual(expect.arrayContaining(parts))
  })

  test('every hosted provider takes a key over https, and says where keys are made', () => {
    for (const { id, baseUrl, keyEnv, keysPage, isLocal, keyUrl } of providers) {
      if (isLocal)
        expect([id, keyEnv, new URL(baseUrl).hostname]).toEqual([id, undefined, '127.0.0.1'])
      else expect([id, /^https:/.test(baseUrl), keyEnv?.length !== 0]).toEqual([id, true, true])
      if (!isLocal && id !== 'counterfoil') expect(`${id} ${keysPage}`).toMatch(/ https:/)
      if (typeof keyUrl === 'string') expect(keyUrl).toMatch(/^https:/)
    }
  })
})

/** A server that stands in for a provider: it has what its documentation shows, in two pages. */
const pages: Record<string, (page: string | null) => object> = {
  openai: () => ({
    object: 'list',
    data: [
      { id: 'some-chat', object: 'model', context_window: 32_000, max_completion_tokens: 4000 },
      { id: 'some-embed', object: 'model', context_length: 8192 },
      { id: 'some-image', object: 'model', type: 'image' },
    ],
  }),
  anthropic: (page) =>
    page === null
      ? {
          data: [
            {
              type: 'model',
              id: 'some-chat',
              display_name: 'Some Chat',
              max_input_tokens: 32_000,
              max_tokens: 4000,
            },
          ],
          has_more: true,
          last_id: 'some-chat',
        }
      : {
          data: [{ type: 'model', id: 'other-chat', display_name: 'Other' }],
          has_more: false,
          last_id: 'other-chat',
        },
  google: (page) => ({
    models: [
      page === null
        ? {
            name: 'models/some-chat',
            displayName: 'Some Chat',
            inputTokenLimit: 32_000,
            outputTokenLimit: 4000,
            supportedGenerationMethods: ['generateContent', 'countTokens'],
          }
        : {
            name: 'models/some-embed',
            inputTokenLimit: 8192,
            supportedGenerationMethods: ['embedContent'],
          },
      { name: 'models/some-film', supportedGenerationMethods: ['predictLongRunning'] },
    ],
    ...(page === null ? { nextPageToken: 'two' } : {}),
  }),
  cohere: (page) => ({
    models: [
      page === null
        ? { name: 'some-chat', endpoints: ['generate', 'chat'], context_length: 32_000 }
        : { name: 'some-embed', endpoints: ['embed'], context_length: 8192 },
      { name: 'some-rank', endpoints: ['rerank'] },
    ],
    ...(page === null ? { next_page_token: 'two' } : {}),
  }),
  github: () =>
    [
      {
        id: 'acme/some-chat',
        name: 'Some Chat',
        limits: { max_input_tokens: 32_000, max_output_tokens: 4000 },
        capabilities: ['streaming', 'tool-calling'],
      },
    ] as object,
  openrouter: () => ({
    data: [
      {
        id: 'acme/some-chat',
        name: 'Some Chat',
        context_length: 32_000,
        architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        pricing: { prompt: '0.000001', completion: '0.000002' },
        top_provider: { max_completion_tokens: 4000 },
        supported_parameters: ['tools'],
      },
    ],
  }),
}

describe('a provider that is asked', () => {
  const seen: { path: string; headers: Headers }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const url = new URL(request.url)
      seen.push({ path: url.pathname, headers: request.headers })
      const [, shape = '', secret = ''] = url.pathname.split('/')
      const { headers } = request
      const keys = [
        headers.get('authorization'),
        headers.get('x-api-key'),
        headers.get('x-goog-api-key'),
      ]
      const isTaken = keys.some((key) => key?.replace('Bearer ', '') === secret)
      if (secret !== 'open' && !isTaken) return Response.json({ error: 'no' }, { status: 401 })
      const page = ['after_id', 'pageToken', 'page_token'].flatMap(
        (one) => url.searchParams.get(one) ?? [],
      )
      const list = pages[shape]?.(page[0] ?? null)
      return list
        ? Response.json(list)
        : new Response('<html>', { headers: { 'content-type': 'text/html' } })
    },
  })
  afterAll(() => server.stop(true))
  const shapeOf = ({ list }: Provider) => list?.shape ?? 'openai'

  // Those that sign have tests of their own.
  const sent = providers.filter(({ auth }) => !isSigning(auth))
  test.each(sent.map((provider) => [provider.id, provider] as const))(
    '%s lists its models for a right key, and refuses a wrong one',
    async (_, provider) => {
      const secret = provider.keyEnv ? 'right' : 'open'
      const baseUrl = `http://127.0.0.1:${server.port}/${shapeOf(provider)}/${secret}`
      const access = { settings: settingsOf(provider), baseUrl }
      const answer = await askProvider(provider, { ...access, apiKey: provider.keyEnv && 'right' })
      if (answer.status !== 'ok') throw new Error(answer.status)
      const prices = { input_pusd: { digits: 1n, scale: 6 }, output_pusd: { digits: 2n, scale: 6 } }
      const { models } = await offersOf(provider, answer, { prices }, 0)
      const chat = models.find(({ upstreamName }) => upstreamName.endsWith('some-chat'))
      expect(chat).toMatchObject({ kind: 'chat', contextTokens: 32_000 })
      expect(models.some(({ upstreamName }) => /image|film|rank/.test(upstreamName))).toBe(false)
      if (!provider.keyEnv) return
      const denied = await askProvider(provider, { ...access, apiKey: 'wrong' })
      expect(denied).toEqual({ status: 'denied' })
    },
  )

  test('a price in a shape that is not read is asked for, not left out', () => {
    const vercel = findProvider('vercel')
    const list = (more: string) =>
      `{"data":[{"id":"acme/x","pricing":{"input":"0.000001","output":"0.000002"${more}}}]}`
    const ratesOf = (more: string) =>
      readModelList(list(more), 'openai', vercel?.listPrices).models[0]?.rates
    expect(ratesOf('')).toBeDefined()
    expect(ratesOf(', "web_search": null, "tiers": []')).toBeDefined()
    expect(ratesOf(', "input_tiers": [{"cost": "0.000009", "min": 200000}]')).toBeUndefined()
    expect(ratesOf(', "bands": {"above": 1}')).toBeUndefined()
    expect(ratesOf(', "per_moon": "1"')).toBeUndefined()
  })

  test('no key is ever part of an address', () => {
    expect(seen.length).toBeGreaterThan(40)
    expect(seen.filter(({ path }) => path.includes('wrong'))).toEqual([])
  })

  test('a page for people is not taken for a list of models', async () => {
    const openai = findProvider('openai')
    if (!openai) throw new Error('it has no preset')
    const baseUrl = `http://127.0.0.1:${server.port}/none/open`
    const answer = await askProvider(openai, { apiKey: 'x', settings: {}, baseUrl })
    expect(answer).toEqual({ status: 'unlisted' })
  })
})
