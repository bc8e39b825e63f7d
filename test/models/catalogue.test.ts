import { describe, expect, test } from 'bun:test'
import { canonical } from '../../src/kernel/canonical.ts'
import { sha256Hex } from '../../src/kernel/hash.ts'
import { makeCatalogue, toModelView } from '../../src/models/catalogue.ts'
import { faultsOf, type ModelConfig } from '../../src/models/model-config.ts'

const small: ModelConfig = {
  id: 'acme/small',
  route: ['local:llama3:8b', 'spare:small'],
  kind: 'chat',
  context_tokens: 128_000,
  max_output_tokens: 4096,
  input_pusd: 150_000,
  output_pusd: 600_000n,
}
const upstreamIds = ['local', 'spare']

describe('the catalogue', () => {
  test('holds the built-in models, free and re-executable, without any configuration', () => {
    const { list, get } = makeCatalogue({ models: [], upstreamIds: [] })
    expect(list().map(({ id }) => id)).toEqual(['counterfoil/echo-1', 'counterfoil/embed-1'])
    expect(get('counterfoil/echo-1')).toMatchObject({
      contextTokens: 131_072,
      maxOutputTokens: 4096,
      prices: { inputPusd: 0n, outputPusd: 0n, requestNusd: 0n },
      verifiable: 're-executable',
      terminal: true,
    })
    expect(get('counterfoil/embed-1')).toMatchObject({ kind: 'embedding', maxOutputTokens: 0 })
    expect(get('toString')).toBeUndefined()
  })

  test('adds configured models; a route is split at its first colon', () => {
    const { get } = makeCatalogue({ models: [small], upstreamIds })
    expect(get('acme/small')).toEqual({
      id: 'acme/small',
      name: 'acme/small',
      kind: 'chat',
      ownedBy: 'acme',
      contextTokens: 128_000,
      maxOutputTokens: 4096,
      prices: { inputPusd: 150_000n, outputPusd: 600_000n, requestNusd: 0n },
      features: ['streaming'],
      route: [
        { upstream: 'local', model: 'llama3:8b' },
        { upstream: 'spare', model: 'small' },
      ],
      verifiable: 'none',
      status: 'live',
      terminal: false,
      overhead: { perMessage: 16, fixed: 64 },
      bytesPerToken: 4,
    })
  })

  test('prices a built-in model, which stays what it is and is no longer in the terminal', () => {
    const echo: ModelConfig = {
      id: 'counterfoil/echo-1',
      input_pusd: 20_000,
      output_pusd: 20_000,
      route: [],
      context_tokens: 0,
      max_output_tokens: 0,
    }
    const { get, list } = makeCatalogue({ models: [echo], upstreamIds: [] })
    expect(list()).toHaveLength(2)
    expect(get('counterfoil/echo-1')).toMatchObject({
      contextTokens: 131_072,
      maxOutputTokens: 4096,
      prices: { inputPusd: 20_000n, outputPusd: 20_000n },
      route: [{ upstream: 'builtin', model: 'counterfoil/echo-1' }],
      verifiable: 're-executable',
      terminal: false,
    })
  })
})

describe('the price list', () => {
  test('its digest is SHA-256 over JCS of all prices by id', () => {
    const { priceList } = makeCatalogue({ models: [small], upstreamIds, version: 3 })
    const free = { input_pusd: 0, output_pusd: 0, request_nusd: 0 }
    const content = [
      { id: 'acme/small', input_pusd: 150_000, output_pusd: 600_000, request_nusd: 0 },
      { id: 'counterfoil/echo-1', ...free },
      { id: 'counterfoil/embed-1', ...free },
    ]
    expect(priceList).toEqual({ id: 'default', version: 3, digest: sha256Hex(canonical(content)) })
  })

  test('it changes with a price and with nothing else', () => {
    const digest = (...models: ModelConfig[]) =>
      makeCatalogue({ models, upstreamIds }).priceList.digest
    const other: ModelConfig = { ...small, id: 'acme/other' }
    expect(digest(small, other)).toBe(digest(other, { ...small, name: 'Small', terminal: true }))
    expect(digest({ ...small, request_nusd: 1 })).not.toBe(digest(small))
  })
})

describe('faults', () => {
  const table: [what: string, config: Partial<ModelConfig>, fault: string][] = [
    ['no input price', { input_pusd: undefined }, 'needs input_pusd'],
    ['a chat without an output price', { output_pusd: undefined }, 'needs output_pusd'],
    ['a negative price', { input_pusd: -1 }, 'input_pusd is not an integer'],
    ['a fractional price', { output_pusd: 0.5 }, 'output_pusd is not an integer'],
    ['a price above 9e15', { request_nusd: 9_000_000_000_000_001n }, 'request_nusd is not'],
    ['no route', { route: [] }, 'needs a route'],
    ['a route without a model', { route: ['local'] }, 'is not "upstream:model"'],
    ['an unknown upstream', { route: ['lokal:x'] }, 'names an unknown upstream'],
    [
      'the built-in upstream',
      { route: ['builtin:counterfoil/echo-1'] },
      'names an unknown upstream',
    ],
    ['no kind', { kind: undefined }, 'needs kind'],
    ['no context', { context_tokens: 0 }, 'needs context_tokens'],
    ['no output', { max_output_tokens: undefined }, 'needs max_output_tokens'],
    ['an embedding that says something', { kind: 'embedding' }, 'max_output_tokens is 0'],
    ['a token of less than a byte', { bytes_per_token: 0.5 }, 'bytes_per_token is not'],
    ['a negative overhead', { overhead_fixed: -1 }, 'overhead_fixed is not'],
    ['an id that is none', { id: 'a b' }, 'is not a model id'],
    ['a built-in model with a route', { id: 'counterfoil/echo-1' }, 'takes no route'],
  ]
  for (const [what, change, fault] of table) {
    test(what, () => {
      const faults = faultsOf({ models: [{ ...small, ...change }], upstreamIds })
      expect(faults.join('; ')).toContain(fault)
    })
  }

  test('all are named at once, and with any there is no catalogue', () => {
    const models = [small, small, { ...small, id: 'acme/free', input_pusd: undefined }]
    expect(faultsOf({ models, upstreamIds })).toEqual([
      '"acme/small" occurs twice',
      '"acme/free" needs input_pusd (0 when it is free)',
    ])
    expect(() => makeCatalogue({ models, upstreamIds })).toThrow(/twice; .* needs input_pusd/)
  })

  test('A price may be 0 if it is written down.', () => {
    const free = { ...small, input_pusd: 0, output_pusd: 0 }
    expect(faultsOf({ models: [free], upstreamIds })).toEqual([])
  })
})

test('a view shows prices and limits as JSON integers, and never a route', () => {
  const { get } = makeCatalogue({ models: [small], upstreamIds })
  const model = get('acme/small')
  if (!model) throw new Error('it is not there')
  expect(JSON.parse(JSON.stringify(toModelView(model)))).toEqual({
    id: 'acme/small',
    object: 'model',
    created: 0,
    owned_by: 'acme',
    name: 'acme/small',
    kind: 'chat',
    status: 'live',
    context_tokens: 128_000,
    max_output_tokens: 4096,
    prices: { input_pusd: 150_000, output_pusd: 600_000, request_nusd: 0 },
    overhead_tokens: { per_message: 16, fixed: 64 },
    input_bound: {
      bytes_per_token: 1,
      tokenizer: null,
      image_tokens_max: null,
      pdf_tokens_max: null,
    },
    features: ['streaming'],
    verifiable: 'none',
    terminal: false,
  })
})

describe('steps with weights', () => {
  const served = (more: object) => ({
    ...{ id: 'a/b', kind: 'chat' as const, context_tokens: 100, max_output_tokens: 10 },
    ...{ input_pusd: 1, output_pusd: 1 },
    ...more,
  })
  const balanceIn = (more: object) => {
    const models = [served(more)]
    return makeCatalogue({ models, upstreamIds: ['u', 'v'] }).get('a/b')?.balance
  }

  test('share by weight where the first has one, else the order is fixed', () => {
    const heavy = { to: 'u:m', weight: 3 }
    expect(balanceIn({ route: [heavy, { to: 'v:m', weight: 1 }] })).toBe('weight')
    expect(balanceIn({ route: ['v:m', heavy] })).toBeUndefined()
    expect(balanceIn({ route: [heavy], balance: 'order' })).toBeUndefined()
    expect(balanceIn({ route: [heavy], balance: 'latency' })).toBe('latency')
    expect(() => balanceIn({ route: ['u:m', 'v:m'], balance: 'latency' })).toThrow(
      'balance = "latency" needs a weight at each step that it is for',
    )
    expect(() => balanceIn({ route: [{ to: 'u:m', weight: 0 }] })).toThrow('weight is not')
  })
})
