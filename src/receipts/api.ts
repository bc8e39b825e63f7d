import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { readJson } from '../http/body.ts'
import { openToAnyOrigin } from '../http/methods.ts'
import { queryOf, readInteger, readPage } from '../http/query.ts'
import { isId } from '../kernel/ids.ts'
import { toListView } from '../kernel/page.ts'
import { Refusal, refuse } from '../kernel/refusal.ts'
import { keyAuth, optionalCaller } from '../keys/auth.ts'
import { assertListed, owns } from '../keys/owns.ts'
import { proofOf } from '../log/proof.ts'
import type { Proof } from '../verify/proof.ts'
import type { ReceiptFile } from '../verify/receipt.ts'
import { type Ended, receiptIdOf, receiptOf } from './receipt.ts'
import { numbered, type Signed, signed } from './sign.ts'
import { checkReceipt, verifyBodyBytes } from './verify.ts'
import { toDisclosures, toReceiptFile } from './view.ts'

type Needs = Pick<
  Deps,
  | 'receipts'
  | 'signer'
  | 'sequencer'
  | 'keys'
  | 'clock'
  | 'settings'
  | 'accounts'
  | 'logStore'
  | 'checkpoints'
  | 'log'
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
        const run = await signed(deps, params.id, found)
        return { ...toOwnFile(run), ...(await proofIfAny(deps, params.id, run.logIndex)) }
      },
      openToAnyOrigin,
    )
    .get(
      '/v1/receipts/:id/proof',
      async ({ params, request }) => {
        const bounds = { min: 1, max: Number.MAX_SAFE_INTEGER }
        const size = readInteger(queryOf(request), 'size', bounds)
        const found = (await find(deps, params.id)) ?? refuse('receipt_not_found')
        const { logIndex } = await numbered(deps, params.id, found)
        return proofOf(deps, params.id, logIndex, size)
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

/** A log that disagrees with itself proves nothing any more, but its receipts can still be read. */
async function proofIfAny(deps: Needs, id: string, index: number): Promise<{ proof?: Proof }> {
  try {
    return { proof: await proofOf(deps, id, index) }
  } catch (error) {
    if (error instanceof Refusal && error.type === 'log_diverged') return {}
    throw error
  }
}

async function ownView(deps: Needs, ended: Ended) {
  const id = receiptIdOf(ended.id)
  const run = await signed(deps, id, ended)
  const place = { log_index: run.logIndex, run_id: run.id, visibility: 'private' }
  return { id, object: 'receipt', ...place, ...toOwnFile(run) }
}
