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
  const textNow = modelsText(catalogue, modelsOf)
  const anthropicText = modelsText(catalogue, modelsForAnthropic)
  return new Elysia({ name: 'models-api' })
    .use(keyAuth(deps))
    .get(
      '/v1/models',
      ({ request, set }) =>
        jsonText(set, request.headers.has('anthropic-version') ? anthropicText() : textNow()),
      openToAnyOrigin,
    )
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

/** The models of a chat as Anthropic's list has them; when one was made is not known here. */
function modelsForAnthropic({ list }: Catalogue) {
  const chats = list().filter(({ kind, status }) => kind === 'chat' && status !== 'disabled')
  const data = chats.map(({ id, name }) => ({
    type: 'model',
    id,
    display_name: name,
    created_at: '1970-01-01T00:00:00Z',
  }))
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}

/** A list as text, made again only after the catalogue changed. */
function modelsText(catalogue: Catalogue, write: (catalogue: Catalogue) => object): () => string {
  let models: readonly Model[] | undefined
  let text = ''
  return () => {
    if (models !== catalogue.list()) {
      models = catalogue.list()
      text = JSON.stringify(write(catalogue))
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
