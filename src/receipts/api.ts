import { Elysia } from 'elysia'
import type { ReceiptRow } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import { readJson } from '../http/body.ts'
import { openToAnyOrigin } from '../http/methods.ts'
import { queryOf, readPage } from '../http/query.ts'
import { isId } from '../kernel/ids.ts'
import { toListView } from '../kernel/page.ts'
import { refuse } from '../kernel/refusal.ts'
import { keyAuth, optionalCaller } from '../keys/auth.ts'
import { assertListed, owns } from '../keys/owns.ts'
import type { FullReceipt, ReceiptFile } from '../verify/receipt.ts'
import { type SignedReceipt, signedReceipt } from './sign.ts'
import { checkReceipt, verifyBodyBytes } from './verify.ts'
import { toDisclosures, toReceiptFile } from './view.ts'

type Needs = Pick<
  Deps,
  'receipts' | 'signer' | 'sequencer' | 'keys' | 'clock' | 'settings' | 'accounts'
>

/** `/v1/receipts`: one's own, a public one, and the check of any. */
export const receiptsApi = (deps: Needs) =>
  new Elysia({ name: 'receipts-api' })
    .use(keyAuth(deps))
    .get(
      '/v1/receipts',
      async ({ caller, request }) => {
        const page = readPage(queryOf(request))
        const keyIds = await deps.keys.subtree(caller.key)
        if (page.after !== undefined) await assertListed(deps, caller, find(deps, page.after))
        const found = await deps.receipts.list(caller.account, keyIds, page)
        const items = await Promise.all(found.items.map((row) => ownView(deps, row)))
        return toListView({ items, hasMore: found.hasMore })
      },
      { needsKey: 'receipts:read' },
    )
    .get(
      '/v1/receipts/:id',
      async ({ params, request, set }) => {
        const found = await find(deps, params.id)
        const caller = await optionalCaller(deps, request, 'receipts:read')
        if (!found || !caller || !(await owns(deps, caller, found))) refuse('receipt_not_found')
        set.headers['vary'] = 'authorization'
        return fileOf(deps, found)
      },
      openToAnyOrigin,
    )
    .post(
      '/v1/receipts/verify',
      async ({ request }) => {
        const { value } = await readJson(request, { limitBytes: verifyBodyBytes })
        return checkReceipt(deps, value)
      },
      { ...openToAnyOrigin, parse: 'none' },
    )

const find = async ({ receipts }: Needs, id: string): Promise<ReceiptRow | undefined> =>
  isId('rcpt', id) ? receipts.find(id) : undefined

/** The whole receipt with the salts that open its commitments. */
const fileOf = async (deps: Needs, receipt: ReceiptRow): Promise<ReceiptFile> =>
  toOwnFile(await signedReceipt(deps, receipt))

function toOwnFile({ body, digest, signature, seed }: SignedReceipt): ReceiptFile {
  const full: FullReceipt = JSON.parse(body)
  const disclosures = seed ? toDisclosures(seed, full.content, {}) : undefined
  return toReceiptFile(full, digest, signature, disclosures)
}

async function ownView(deps: Needs, receipt: ReceiptRow) {
  const signed = await signedReceipt(deps, receipt)
  const { id, logIndex, runId, visibility } = signed
  const place = { log_index: logIndex, run_id: runId, visibility }
  return { id, object: 'receipt', ...place, ...toOwnFile(signed) }
}
