/** Routes under /v1/keys: a key reads itself and manages the keys below it. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import { toListView } from '../../kernel/pagination.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { answerBody, readBody } from '../../web/http/answer-once.ts'
import { jsonText } from '../../web/http/json-text.ts'
import { queryOf, readPage } from '../../web/http/query.ts'
import { changeBody, mintBody, rotateBody } from './api/key-body.ts'
import { onceShown } from './api/once-shown.ts'
import { changeKey } from './change.ts'
import { issueKey } from './issue.ts'
import { assertScope, type Caller } from './key.ts'
import { toChange, toMintRequest } from './key-request.ts'
import { toKeyView } from './key-view.ts'
import { keyAuth } from './needs-key.ts'
import { assertListed, findOwnKey } from './owns.ts'
import { pauseKey, resumeKey } from './pause.ts'
import { revokeKey } from './revoke.ts'
import { rotateKey } from './rotate.ts'
import { selfText } from './self.ts'

export const keysApi = (deps: Deps) =>
  new Elysia({ name: 'keys-api' })
    .use(keyAuth(deps))
    .get('/v1/keys/self', ({ caller, set }) => jsonText(set, selfText(deps, caller)), {
      needsKey: 'also-paused',
    })
    .use(readingApi(deps))
    .use(changingApi(deps))

const readingApi = (deps: Deps) =>
  new Elysia({ name: 'keys-reading-api' })
    .use(keyAuth(deps))
    .get(
      '/v1/keys',
      async ({ caller, request }) => {
        const page = readPage(queryOf(request))
        if (page.after !== undefined) await assertListed(deps, caller, place(deps, page.after))
        const now = deps.clock.now()
        const { items, hasMore } = await deps.keys.listBelow(caller.key, page, now)
        return toListView({ items: items.map((shown) => toKeyView(shown, now)), hasMore })
      },
      { needsKey: 'keys:read' },
    )
    .get(
      '/v1/keys/:id',
      async ({ caller, params }) => show(deps, await findOwnKey(deps, caller, params.id)),
      { needsKey: 'keys:read' },
    )

const changingApi = (deps: Deps) =>
  new Elysia({ name: 'keys-changing-api' })
    .use(keyAuth(deps))
    .post(
      '/v1/keys',
      async ({ caller, request, set }) => {
        const wish = { request, who: caller.key.id, route: 'POST /v1/keys', shape: mintBody }
        return answerBody(deps, { set }, wish, async (body, call) => {
          const wish = { ...toMintRequest(body), account: caller.account, actor: caller.key.id }
          const parentId = await findParent(deps, caller, wish.parentId)
          const once = onceShown(deps, call, 201)
          const { key, secret } = await issueKey(deps, { ...wish, parentId, once })
          set.status = 201
          return { ...(await show(deps, key)), secret }
        })
      },
      { needsKey: 'keys:mint', parse: 'none' },
    )
    .patch(
      '/v1/keys/:id',
      async ({ caller, params, request }) => {
        const { keyId, actor } = await findBelow(deps, caller, params.id)
        const change = toChange(await readBody(deps, request, changeBody))
        return show(deps, await changeKey(deps, { keyId, actor, change }))
      },
      { needsKey: 'keys:mint', parse: 'none' },
    )
    .post(
      '/v1/keys/:id/pause',
      async ({ caller, params }) =>
        show(deps, await pauseKey(deps, await findBelow(deps, caller, params.id))),
      { needsKey: 'keys:mint', parse: 'none' },
    )
    .post(
      '/v1/keys/:id/resume',
      async ({ caller, params }) => {
        const key = await resumeKey(deps, await findBelow(deps, caller, params.id))
        const left = await deps.keys.leftPaused(key)
        return { ...(await show(deps, key)), left_paused: left.map(({ id }) => id) }
      },
      { needsKey: 'keys:mint', parse: 'none' },
    )
    .post(
      '/v1/keys/:id/revoke',
      async ({ caller, params }) => {
        const key = await findSelfOrBelow(deps, caller, params.id)
        await revokeKey(deps, { keyId: key.id, actor: caller.key.id })
        return show(deps, key)
      },
      { needsKey: 'any', parse: 'none' },
    )
    .post(
      '/v1/keys/:id/rotate',
      async ({ caller, params, request, set }) => {
        const { id: keyId } = await findOwnKey(deps, caller, params.id)
        const route = `POST /v1/keys/${keyId}/rotate`
        const isOptional = true as const
        const asked = { request, who: caller.key.id, route, shape: rotateBody, isOptional }
        return answerBody(deps, { set }, asked, async (body, call) => {
          const { overlap_seconds: overlapSeconds = 0 } = body
          const once = onceShown(deps, call, 200)
          const wish = { keyId, actor: caller.key.id, overlapSeconds, once }
          const { key, secret } = await rotateKey(deps, wish)
          return { ...(await show(deps, key)), secret }
        })
      },
      // Else a thief of the secret shuts out its owner.
      { needsKey: 'keys:mint', parse: 'none' },
    )

async function show({ keys, clock }: Deps, { id }: KeyRow) {
  const now = clock.now()
  return toKeyView(await keys.show(id, now), now)
}

/** A key of the list that `after` names, with what tells whose it is. */
const place = async ({ keys }: Deps, id: string) => {
  const key = isId('key', id) ? await keys.find(id) : undefined
  return key && { accountId: key.accountId, keyId: key.id }
}

/**
 * The parent of a new key: the caller, or a key below it.
 * @throws Refusal `invalid_request`, the same for a key of others as for none.
 */
async function findParent(deps: Deps, caller: Caller, id = caller.key.id): Promise<string> {
  const key = isId('key', id) ? await deps.keys.find(id) : undefined
  if (key?.lineage.includes(caller.key.id)) return key.id
  refuseField('parent_id', 'The parent must be this key or one below it. GET /v1/keys lists them.')
}

/** @throws Refusal `scope_denied` for the caller itself: a key cannot change its own limits. */
async function findBelow(deps: Deps, caller: Caller, id: string) {
  const key = await findOwnKey(deps, caller, id)
  if (key.id === caller.key.id) {
    refuse('scope_denied', 'A key does not change itself. Ask the holder of the key above it.')
  }
  return { keyId: key.id, actor: caller.key.id }
}

/** Itself every key may give up; keys below it only one that may mint. */
async function findSelfOrBelow(deps: Deps, caller: Caller, id: string): Promise<KeyRow> {
  if (id !== 'self' && id !== caller.key.id) assertScope(caller.chain, 'keys:mint')
  return findOwnKey(deps, caller, id)
}
