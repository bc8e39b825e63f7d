/** GET /v1/models: the list for everyone, one model for keys. */
import { Elysia } from 'elysia'
import { keyAuth } from '../access/keys/needs-key.ts'
import type { Deps } from '../app/deps-port.ts'
import { refuse } from '../kernel/refusal.ts'
import { jsonText } from '../web/http/json-text.ts'
import { openToAnyOrigin } from '../web/http/methods.ts'
import { type Catalogue, toModelView } from './catalogue.ts'
import type { Model } from './model.ts'
import type { ModelsAnswer } from './shapes.ts'

export const modelsApi = (deps: Deps) => {
  const { catalogue } = deps
  const textNow = modelsText(catalogue)
  return new Elysia({ name: 'models-api' })
    .use(keyAuth(deps))
    .get('/v1/models', ({ set }) => jsonText(set, textNow()), openToAnyOrigin)
    .get(
      '/v1/models/*',
      ({ params }) => toModelView(catalogue.get(nameIn(params['*'])) ?? refuse('model_not_found')),
      { needsKey: 'any' },
    )
}

/** The answer of `GET /v1/models`. */
export function modelsOf({ list, priceList }: Catalogue): ModelsAnswer {
  const data = list().map(toModelView)
  const ids = { first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null }
  return { object: 'list', data, has_more: false, ...ids, price_list: priceList }
}

/** The same as text, made again only after the catalogue changed. */
function modelsText(catalogue: Catalogue): () => string {
  let models: readonly Model[] | undefined
  let text = ''
  return () => {
    if (models !== catalogue.list()) {
      models = catalogue.list()
      text = JSON.stringify(modelsOf(catalogue))
    }
    return text
  }
}

/** `counterfoil%2Fecho-1` is how clients write an id with a slash; a bare slash works too. */
function nameIn(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
