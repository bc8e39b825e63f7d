/** POST /v1/quotes and GET /v1/quotes/:id: what a run would cost, promised for a while. */
import { Elysia } from 'elysia'
import { keyAuth } from '../../access/keys/needs-key.ts'
import { owns } from '../../access/keys/owns.ts'
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import { onceOf } from '../../ledger/once.ts'
import { unknownModel } from '../../models/unknown-model.ts'
import type { QuoteRow } from '../../storage/db/schema/schema.ts'
import { answerBody, jsonReply } from '../../web/http/answer-once.ts'
import { quoteBody } from './api/quote-body.ts'
import { makeQuote } from './make-quote.ts'
import { toQuoteView } from './quotes.ts'

const route = '/v1/quotes'

export const quotesApi = (deps: Deps) =>
  new Elysia({ name: 'quotes-api' })
    .use(keyAuth(deps))
    .post(
      route,
      async ({ caller, request, set }) => {
        const who = caller.key.id
        const asked = { request, who, route: `POST ${route}`, shape: quoteBody }
        return answerBody(deps, { set }, asked, async (wish, call) => {
          const model = deps.catalogue.named(wish.model)
          if (!model || model.status === 'disabled') {
            throw unknownModel(deps.catalogue, wish.model, caller.chain)
          }
          const toReply = (row: QuoteRow) => jsonReply(200, {}, toQuoteView(row))
          const once = call && onceOf<QuoteRow>(deps, call, toReply)
          return toQuoteView(await makeQuote(deps, { caller, model, wish, once }))
        })
      },
      { needsKey: 'runs:write', parse: 'none' },
    )
    .get(
      `${route}/:id`,
      async ({ caller, params }) => {
        const row = isId('quote', params.id) ? await deps.quotes.find(params.id) : undefined
        if (!row || !(await owns(deps, caller, row))) {
          return refuse('not_found', 'There is no such quote.')
        }
        return toQuoteView(row)
      },
      { needsKey: 'runs:read' },
    )
