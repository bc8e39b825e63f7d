import { describe, expect, test } from 'bun:test'
import { makeCatalogue, toModelView } from '../../src/models/catalogue.ts'
import type { Model } from '../../src/models/model.ts'
import { faultsOf, type ModelConfig, type StepConfig } from '../../src/models/model-config.ts'
import { rateSections } from '../../src/models/pages/shown-rates.ts'

const base: ModelConfig = {
  id: 'acme/large',
  kind: 'chat',
  context_tokens: 1000,
  max_output_tokens: 100,
  input_pusd: 1000,
  output_pusd: 2000,
}
const apart = { input_pusd: 3000, output_pusd: 1500 }
const upstreamIds = ['local', 'far', 'near']
const routed = (...route: (string | StepConfig)[]): ModelConfig => ({ ...base, route })
function modelOf(config: ModelConfig): Model {
  const found = makeCatalogue({ models: [config], upstreamIds }).get(config.id)
  if (!found) throw new Error('no such model')
  return found
}

describe('steps of a route in lists', () => {
  test('that all have prices of their own leave those of the model out of every list', () => {
    const near = { input_pusd: 700, output_pusd: 700 }
    const all = modelOf(routed({ to: 'local:a', prices: apart }, { to: 'far:b', prices: near }))
    expect(toModelView(all).prices).toEqual({
      ...apart,
      request_nusd: 0,
      others: [{ ...near, request_nusd: 0 }],
    })
    const shown = rateSections(all).map(({ rates }) => rates.map(({ pusd }) => pusd))
    expect(shown).toEqual([
      [3000n, 1500n],
      [700n, 700n],
    ])
  })

  test('with equal prices are one list, which does not tell how many there are', () => {
    const same = { input_pusd: base.input_pusd, output_pusd: base.output_pusd }
    const equal = modelOf(
      routed(
        { to: 'local:a', prices: same },
        'local:b',
        { to: 'far:b', prices: apart },
        { to: 'near:c', prices: { ...apart } },
      ),
    )
    expect(equal.varied?.lists).toHaveLength(2)
    expect(rateSections(equal).map(({ when }) => when)).toEqual([undefined, 'Another server'])
  })

  test('that all have prices of their own leave nothing to prices by the hour, which are refused', () => {
    const hours = [{ from: '16:30', to: '00:30', input_pusd: 500, output_pusd: 500 }]
    const found = (...route: (string | StepConfig)[]) =>
      faultsOf({ models: [{ ...routed(...route), hours }], upstreamIds })
    expect(found({ to: 'local:a', prices: apart })).toEqual([
      '"acme/large" hours: change nothing, because each step of the route has prices of its own',
    ])
    expect(found({ to: 'local:a', prices: apart }, 'far:b')).toEqual([])
  })
})
