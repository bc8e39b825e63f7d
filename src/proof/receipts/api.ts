/** Routes under /v1/receipts: own and public receipts, and the check of any receipt. */
import { Elysia } from 'elysia'
import { optionalCaller } from '../../access/keys/api/optional-caller.ts'
import { keyAuth } from '../../access/keys/needs-key.ts'
import { assertListed, owns } from '../../access/keys/owns.ts'
import { firstListedRun } from '../../access/plan-history.ts'
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import { toListView } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { EvidenceFile } from '../../verify/upstream-evidence.ts'
import { readJson } from '../../web/http/body.ts'
import { answerFresh } from '../../web/http/etag.ts'
import { keylessGuard, takeCheck } from '../../web/http/keyless.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { queryOf, readChoice, readInteger, readPage } from '../../web/http/query.ts'
import { tlogProofOf, witnessedProofOf } from '../log/tlog-proofs.ts'
import { fileIn, ownEvidence, sharedEvidence } from '../upstream-evidence/known-evidence.ts'
import { shareApi } from './api/share.ts'
import { checkReceipt, verifyBodyBytes } from './check-receipt.ts'
import { type Ended, receiptIdOf } from './receipt.ts'
import { ownFileOf, sharedFileOf, toOwnFile } from './receipt-file.ts'
import type { Visibility } from './receipts.ts'
import { numbered, signed } from './sign.ts'

export const receiptsApi = (deps: Deps) =>
  new Elysia({ name: 'receipts-api' })
    .use(keyAuth(deps))
    .use(keylessGuard(deps))
    .use(shareApi(deps))
    .get(
      '/v1/receipts',
      async ({ caller, request }) => {
        const page = readPage(queryOf(request))
        const keyIds = await deps.keys.subtree(caller.key)
        if (page.after !== undefined) await assertListed(deps, caller, find(deps, page.after))
        const since = firstListedRun(deps.ids, caller.plan, deps.clock.now())
        const found = await deps.receipts.list(keyIds, page, since)
        const ids = found.items.map(({ id }) => receiptIdOf(id))
        const shared = await deps.shares.visibilities(caller.account, ids)
        const items = await Promise.all(
          found.items.map((row, i) => ownView(deps, row, shared.get(ids[i] ?? ''))),
        )
        return toListView({ items, hasMore: found.hasMore })
      },
      { needsKey: 'receipts:read' },
    )
    .get(
      '/v1/receipts/:id',
      async ({ params, request, server, set }) => {
        const found = await find(deps, params.id)
        const caller = await optionalCaller(deps, { request, server }, 'receipts:read')
        const share = found && (await deps.shares.find(params.id))
        const headers = { vary: 'authorization' }
        Object.assign(set.headers, headers)
        if (found && caller && (await owns(deps, caller, found))) {
          const file = await ownFileOf(deps, found, await deps.texts.find(found.id))
          return { ...file, visibility: share?.visibility ?? 'private' }
        }
        if (!found || !share) refuse('receipt_not_found', { headers })
        return answerFresh(request, set, await sharedFileOf(deps, found, share))
      },
      openToAnyOrigin,
    )
    .get(
      '/v1/receipts/:id/proof',
      async ({ params, request, server, set }) => {
        const bounds = { min: 1, max: Number.MAX_SAFE_INTEGER }
        const query = queryOf(request)
        const size = readInteger(query, 'size', bounds)
        const format = readChoice(query, 'format', ['json', 'tlog', 'evidence'])
        if (format === 'evidence') return evidenceAt(deps, { request, server, set }, params.id)
        const found = (await find(deps, params.id)) ?? refuse('receipt_not_found')
        const { issuer, logIndex } = await numbered(deps, params.id, found)
        const receipt = { id: params.id, issuer, index: logIndex }
        if (format !== 'tlog') return witnessedProofOf(deps, receipt, size)
        if (size !== undefined) {
          const message = 'A tlog proof has the size that witnesses signed: leave "size" out.'
          refuse('invalid_request', { message, param: 'size' })
        }
        set.headers['content-type'] = 'text/plain; charset=utf-8'
        return tlogProofOf(deps, receipt)
      },
      openToAnyOrigin,
    )
    .post(
      '/v1/receipts/verify',
      async ({ request, network }) => {
        const { value, text } = await readJson(request, { limitBytes: verifyBodyBytes })
        await takeCheck(deps, { network, text })
        return checkReceipt(deps, value, text)
      },
      { ...openToAnyOrigin, isKeyless: true, parse: 'none' },
    )

/**
 * The evidence of the upstream: all of it for a key of the account, else as the receipt is shared.
 * @throws Refusal `receipt_not_found`, `not_found`
 */
async function evidenceAt(deps: Deps, asked: ReceiptContext, id: string): Promise<EvidenceFile> {
  const headers = { vary: 'authorization' }
  Object.assign(asked.set.headers, headers)
  const found = (await find(deps, id)) ?? refuse('receipt_not_found', { headers })
  const caller = await optionalCaller(deps, asked, 'receipts:read')
  const isOwn = caller && (await owns(deps, caller, found))
  if (isOwn) return fileIn(await ownEvidence(deps, found), headers)
  const share = (await deps.shares.find(id)) ?? refuse('receipt_not_found', { headers })
  return fileIn(await sharedEvidence(deps, found, share), headers)
}

type ReceiptContext = Parameters<typeof optionalCaller>[1] & {
  set: { headers: Record<string, unknown> }
}

const find = async ({ receipts }: Deps, id: string): Promise<Ended | undefined> =>
  isId('rcpt', id) ? receipts.find(id) : undefined

async function ownView(deps: Deps, ended: Ended, visibility: Visibility = 'private') {
  const id = receiptIdOf(ended.id)
  const run = await signed(deps, id, ended)
  const place = { log_index: run.logIndex, run_id: run.id, visibility }
  return { id, object: 'receipt', ...place, ...toOwnFile(run, undefined) }
}
