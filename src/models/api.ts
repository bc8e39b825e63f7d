/** GET /v1/models: the list for everyone, one model for keys. */
import { Elysia } from 'elysia'
import { apiKeyHeader, keyAuth } from '../access/keys/needs-key.ts'
import type { Deps } from '../app/deps-port.ts'
import { refuse } from '../kernel/refusal.ts'
import { jsonText } from '../web/http/json-text.ts'
import { openToAnyOrigin } from '../web/http/methods.ts'
import type { Aliases } from './aliases.ts'
import { modelsForAnthropic, toModelInfo } from './anthropic-models.ts'
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
      ({ request, set }) => jsonText(set, isForAnthropic(request) ? anthropicText() : textNow()),
      openToAnyOrigin,
    )
    .get(
      '/v1/models/*',
      ({ params, request }) => {
        const model = catalogue.named(nameIn(params['*'])) ?? refuse('model_not_found')
        if (!isForAnthropic(request)) return toModelView(model, catalogue.aliases)
        if (model.status === 'disabled') refuse('model_not_found')
        return toModelInfo(model, model.id)
      },
      {
        needsKey: {
          need: 'any',
          keyIn: (request) => (isForAnthropic(request) ? apiKeyHeader(request) : null),
        },
      },
    )
}

/** The answer of `GET /v1/models`. */
export function modelsOf({ list, priceList, aliases }: Catalogue): ModelsAnswer {
  const data = list().map((model) => toModelView(model, aliases))
  const ids = { first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null }
  return { object: 'list', data, has_more: false, ...ids, price_list: priceList }
}

/** A list as text, made again only after the catalogue changed. */
function modelsText(catalogue: Catalogue, write: (catalogue: Catalogue) => object): () => string {
  let models: readonly Model[] | undefined
  let aliases: Aliases | undefined
  let text = ''
  return () => {
    if (models !== catalogue.list() || aliases !== catalogue.aliases) {
      models = catalogue.list()
      aliases = catalogue.aliases
      text = JSON.stringify(write(catalogue))
    }
    return text
  }
}

/** Anthropic's clients say so in each request. */
const isForAnthropic = ({ headers }: Request): boolean => headers.has('anthropic-version')

/** `counterfoil%2Fecho-1` is how clients write an id with a slash; a bare slash works too. */
function nameIn(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
