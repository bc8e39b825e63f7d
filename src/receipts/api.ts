import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { readJson } from '../http/body.ts'
import { openToAnyOrigin } from '../http/methods.ts'
import { queryOf, readPage } from '../http/query.ts'
import { isId } from '../kernel/ids.ts'
import { toListView } from '../kernel/page.ts'
import { refuse } from '../kernel/refusal.ts'
import { keyAuth, optionalCaller } from '../keys/auth.ts'
import { assertListed, owns } from '../keys/owns.ts'
import type { ReceiptFile } from '../verify/receipt.ts'
import { type Ended, receiptIdOf, receiptOf } from './receipt.ts'
import { type Signed, signed } from './sign.ts'
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
        const found = await deps.receipts.list(keyIds, page)
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
        return toOwnFile(await signed(deps, params.id, found))
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

const find = async ({ receipts }: Needs, id: string): Promise<Ended | undefined> =>
  isId('rcpt', id) ? receipts.find(id) : undefined

/** The whole receipt with the salts that open its commitments. */
function toOwnFile(run: Signed): ReceiptFile {
  const receipt = receiptOf(run)
  const disclosures = toDisclosures(run.seed, receipt.content, {})
  return toReceiptFile(receipt, run.digest, run.signature, disclosures)
}

async function ownView(deps: Needs, ended: Ended) {
  const id = receiptIdOf(ended.id)
  const run = await signed(deps, id, ended)
  const place = { log_index: run.logIndex, run_id: run.id, visibility: 'private' }
  return { id, object: 'receipt', ...place, ...toOwnFile(run) }
}
