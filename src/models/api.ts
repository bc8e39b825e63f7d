import { Elysia } from 'elysia'
import { keyAuth } from '../access/keys/needs-key.ts'
import type { Deps } from '../app/deps-port.ts'
import { refuse } from '../kernel/refusal.ts'
import { jsonText } from '../web/http/json-text.ts'
import { openToAnyOrigin } from '../web/http/methods.ts'
import { toModelView } from './catalogue.ts'
import type { Model, PriceList } from './model.ts'

/** `/v1/models`: the list is for everybody, a single model for keys. */
export const modelsApi = (deps: Pick<Deps, 'catalogue' | 'keys' | 'clock' | 'settings'>) => {
  const { catalogue } = deps
  return new Elysia({ name: 'models-api' })
    .use(keyAuth(deps))
    .get('/v1/models', ({ set }) => jsonText(set, modelsText(deps)), openToAnyOrigin)
    .get(
      '/v1/models/*',
      ({ params }) => toModelView(catalogue.get(nameIn(params['*'])) ?? refuse('model_not_found')),
      { needsKey: 'any' },
    )
}

/** The answer of `GET /v1/models`, made once for each catalogue. */
export function modelsOf({ catalogue }: Pick<Deps, 'catalogue'>): ModelList {
  const models = catalogue.list()
  const known = lists.get(models)
  if (known) return known
  const data = models.map(toModelView)
  const made = {
    object: 'list' as const,
    data,
    has_more: false,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    price_list: catalogue.priceList,
  }
  lists.set(models, made)
  return made
}

/** The same as text. */
export function modelsText(deps: Pick<Deps, 'catalogue'>): string {
  const list = modelsOf(deps)
  const known = texts.get(list)
  if (known !== undefined) return known
  const made = JSON.stringify(list)
  texts.set(list, made)
  return made
}

type ModelList = {
  object: 'list'
  data: ReturnType<typeof toModelView>[]
  has_more: boolean
  first_id: string | null
  last_id: string | null
  price_list: PriceList
}

const lists = new WeakMap<readonly Model[], ModelList>()
const texts = new WeakMap<ModelList, string>()

/** `counterfoil%2Fecho-1` is how clients write an id with a slash; a bare slash works too. */
function nameIn(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
