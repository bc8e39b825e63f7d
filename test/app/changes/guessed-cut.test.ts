import { expect, test } from 'bun:test'
import { guessedCut } from '../../../src/app/changes/price-change.ts'
import { makeCatalogue } from '../../../src/models/catalogue.ts'
import type { Model } from '../../../src/models/model.ts'
import type { ModelConfig } from '../../../src/models/model-config.ts'

const config: ModelConfig = {
  id: 'acme/large',
  kind: 'chat',
  context_tokens: 1000,
  max_output_tokens: 100,
  input_pusd: 1000,
  output_pusd: 2000,
  route: ['near:a'],
}
const modelOf = (more: Partial<ModelConfig> = {}): Model | undefined =>
  makeCatalogue({ models: [{ ...config, ...more }], upstreamIds: ['near', 'far'] }).get(config.id)
const cut = (more: Partial<ModelConfig>, before: Partial<ModelConfig> = {}) =>
  guessedCut(modelOf(before), modelOf(more))

test('A price has fallen where any rate is below the one that held before.', () => {
  expect(cut({})).toBeUndefined()
  expect(cut({ input_pusd: 1001, output_pusd: 2000 })).toBeUndefined()
  expect(cut({ output_pusd: 1999 })).toBe('output')
  expect(cut({ request_nusd: 0 }, { request_nusd: 1 })).toBe('request')
  // A class fell back to another rate before it had its own, or falls back to it now.
  expect(cut({ cache_read_pusd: 999 })).toBe('cache_read')
  expect(cut({ cache_read_pusd: 1000 })).toBeUndefined()
  expect(cut({}, { reasoning_pusd: 2001 })).toBe('reasoning')
  expect(cut({ status: 'disabled', output_pusd: 1 })).toBe('output')
})

test('It is asked about only where a step sells at it whose cost is not known.', () => {
  const cost = { input_pusd: 1, output_pusd: 1 }
  const low = { output_pusd: 1999 }
  const known = { to: 'near:a', cost }
  expect(cut({ ...low, route: [known] }, { route: [known] })).toBeUndefined()
  expect(cut({ ...low, route: [known, 'far:b'] }, { route: [known, 'far:b'] })).toBe('output')
  const apart = { to: 'far:b', prices: { input_pusd: 5, output_pusd: 5 } }
  expect(cut({ ...low, route: [known, apart] }, { route: [known, apart] })).toBeUndefined()
})
