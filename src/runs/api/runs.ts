/** The doors of `/v1/runs`, with everything that a run has. */
import { Elysia } from 'elysia'
import type { Caller } from '../../access/keys/key.ts'
import { keyAuth } from '../../access/keys/needs-key.ts'
import { assertListed, owns } from '../../access/keys/owns.ts'
import { firstListedRun } from '../../access/plan-history.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { isId } from '../../kernel/ids.ts'
import { toListView } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import { onceOf } from '../../ledger/once.ts'
import type { JsonObject } from '../../models/upstream/upstream.ts'
import { jsonReply } from '../../web/http/answer-once.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { queryOf } from '../../web/http/query.ts'
import { runInBackground } from '../background.ts'
import { begin } from '../begin.ts'
import { cancelRun } from '../cancel.ts'
import { frameWriter } from '../chunks.ts'
import { findModel, toReceiptLink } from '../openai.ts'
import type { OpenedRun } from '../opening.ts'
import { toRunView } from '../run-view.ts'
import { isToFit } from '../switches.ts'
import { assertServed } from '../unserved.ts'
import { answerWhole, fittedOf } from './complete.ts'
import { followRun } from './events.ts'
import { runQuery } from './list-query.ts'
import { toOpenAi } from './native.ts'
import { runBody } from './run-body.ts'
import { answer, quoteIn, type RunHandler, traceOf, withSayable } from './run-request.ts'
import { streamRun } from './stream.ts'
import { tagsBeside } from './tags.ts'

export const nativeRunsApi = (deps: Deps) => {
  const writes = { needsKey: 'runs:write', parse: 'none' } as const
  const reads = { needsKey: 'runs:read' } as const
  return new Elysia({ name: 'native-runs-api' })
    .use(keyAuth(deps))
    .post(
      '/v1/runs',
      ({ caller, request, server, set }) =>
        answer(deps, { caller, request, server, set }, '/v1/runs', native),
      writes,
    )
    .get(
      '/v1/runs',
      async ({ caller, request }) => {
        const { limit, after, ...narrow } = runQuery.read(queryOf(request))
        const page = { limit, after }
        const filter = {
          ...narrow,
          since: firstListedRun(deps.ids, caller.plan, deps.clock.now()),
        }
        if (page.after !== undefined) await assertListed(deps, caller, find(deps, page.after))
        const keyIds = await deps.keys.subtree(caller.key)
        const { items, hasMore } = await deps.runs.list(keyIds, filter, page)
        return toListView({ items: items.map((run) => toRunView(run)), hasMore })
      },
      reads,
    )
    .get(
      '/v1/runs/:id',
      async ({ caller, params }) => {
        const run = await findOwn(deps, caller, params.id)
        return toRunView(run, run.background && run.output !== null ? run.output : undefined)
      },
      reads,
    )
    .get(
      '/v1/runs/:id/events',
      async ({ caller, params, request, server, set }) => {
        const run = await findOwn(deps, caller, params.id)
        return followRun(deps, { request, server, set }, run)
      },
      reads,
    )
    .post(
      '/v1/runs/:id/cancel',
      async ({ caller, params }) =>
        toRunView(await cancelRun(deps, await findOwn(deps, caller, params.id))),
      writes,
    )
}

const native: RunHandler = async (deps, context, received, call) => {
  const body = checkBody(runBody, received)
  const named = findModel(deps, received, context.caller.chain)
  const fit = isToFit(context.request, body.fit, context.caller.key)
  const openAi = toOpenAi(named, body)
  assertServed(named, openAi)
  const model = withSayable(deps, named, openAi)
  const isBackground = body.background === true
  const toView = ({ row, bound }: OpenedRun) => ({ ...toRunView(row), ...fittedOf(bound, fit) })
  // A background run is answered when it begins.
  const begunReply = (begun: OpenedRun) =>
    isBackground ? jsonReply(202, {}, toView(begun)) : undefined
  const live = await begin(deps, {
    caller: context.caller,
    model,
    body: openAi,
    received: received as Json,
    background: isBackground,
    fit,
    limit: 'max_output_tokens',
    tags: tagsBeside(context.request, body.tags),
    metadata: (body.metadata ?? {}) as Record<string, Json>,
    once: call && onceOf(deps, call, begunReply),
    trace: traceOf(context.request),
    client: context.request,
    quote: quoteIn(context.request),
  })
  if (isBackground) {
    const view = toView(live)
    live.takeRoom(context.room)
    void runInBackground(deps, live)
    context.set.status = 202
    return view
  }
  const fitted = fittedOf(live.bound, fit)
  if (body.stream) {
    return streamRun(deps, live, context, {
      write: frameWriter((chunk) => event('run.output.delta', deltaOf(chunk))),
      last: (done) => {
        const run = { ...toRunView(done.run, done.choices as Json), ...fitted }
        return event('run.completed', { run, receipt: toReceiptLink(done, deps.settings) })
      },
    })
  }
  return answerWhole(deps, context, live, (done) => {
    const receipt = toReceiptLink(done, deps.settings)
    return { ...toRunView(done.run, done.output), ...fitted, receipt }
  })
}

const event = (type: string, fields: object): string =>
  `data: ${JSON.stringify({ type, ...fields })}\n\n`

const deltaOf = (chunk: JsonObject): object => ({ choices: chunk['choices'] ?? [] })

const find = async ({ runs }: Deps, id: string) => (isId('run', id) ? runs.find(id) : undefined)

/** @throws Refusal `not_found`, the same for a run of others as for none. */
async function findOwn(deps: Deps, caller: Caller, id: string) {
  const run = await find(deps, id)
  if (!run || !(await owns(deps, caller, run))) refuse('not_found', 'There is no such run.')
  return run
}
