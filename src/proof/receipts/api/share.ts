/** Routes that share a receipt or erase its texts. */
import { Elysia } from 'elysia'
import type { Caller } from '../../../access/keys/key.ts'
import { keyAuth } from '../../../access/keys/needs-key.ts'
import { owns } from '../../../access/keys/owns.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { Json } from '../../../kernel/canonical.ts'
import { toRfc3339 } from '../../../kernel/clock.ts'
import { isId } from '../../../kernel/ids.ts'
import { refuse, refuseField } from '../../../kernel/refusal.ts'
import { readJson } from '../../../web/http/body.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { eraseReceipt } from '../erase.ts'
import { shareReceipt, textNames, toShareView } from '../share.ts'
import { shareBody } from './share-body.ts'

/** Routes that share a receipt, and that erase its seed and texts. */
export const shareApi = (deps: Deps) => {
  const shares = { needsKey: 'receipts:share', parse: 'none' } as const
  return new Elysia({ name: 'share-api' })
    .use(keyAuth(deps))
    .post(
      '/v1/receipts/:id/share',
      async ({ caller, params, request }) => {
        const { value } = await readJson(request, { limitBytes: deps.settings.bodyBytes })
        const asked = readShareBody(value)
        const wish = { ...(await ownedBy(deps, caller, params.id)), ...asked }
        return toShareView(params.id, await shareReceipt(deps, wish), deps.settings)
      },
      shares,
    )
    .post(
      '/v1/receipts/:id/erase',
      async ({ caller, params }) => {
        const erasedAt = await eraseReceipt(deps, await ownedBy(deps, caller, params.id))
        return { object: 'erasure', receipt_id: params.id, erased_at: toRfc3339(erasedAt) }
      },
      shares,
    )
}

/**
 * Reads the body of a share, for every door.
 * @throws Refusal `invalid_request` with `param`
 */
export function readShareBody(value: Json) {
  const { disclosures = {}, ...body } = checkBody(shareBody, value)
  const texts = Object.fromEntries(
    Object.entries(disclosures).map(([name, given]) => [name, given.value as Json]),
  )
  const unasked = textNames.find((one) => one in texts && !body.reveal?.includes(one))
  if (unasked) {
    refuseField(
      `disclosures.${unasked}`,
      `"reveal" does not name ${unasked}, so its text has no use here.`,
    )
  }
  return { ...body, texts }
}

/** @throws Refusal `receipt_not_found`, the same for a receipt of others as for none. */
async function ownedBy(deps: Deps, caller: Caller, receiptId: string) {
  const found = isId('rcpt', receiptId) ? await deps.receipts.find(receiptId) : undefined
  if (!found || !(await owns(deps, caller, found))) refuse('receipt_not_found')
  return { account: caller.account, receiptId, actor: caller.key.id }
}
