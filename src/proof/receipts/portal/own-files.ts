/** Downloads of an account's receipts: the file, and what the upstream signed of the run. */
import { Elysia } from 'elysia'
import { sessionAuth } from '../../../access/accounts/needs-session.ts'
import { isOf } from '../../../access/keys/owns.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { KeyScope } from '../../../kernel/acting.ts'
import { isId } from '../../../kernel/ids.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { fileIn, ownEvidence } from '../../upstream-evidence/known-evidence.ts'
import { asFile } from '../pages.tsx'
import type { Ended } from '../receipt.ts'
import { ownFileOf } from '../receipt-file.ts'

/** `/api/portal/receipts/:id/file` and `…/evidence`. */
export const ownFiles = (deps: Deps) =>
  new Elysia({ name: 'receipt-files' })
    .use(sessionAuth(deps))
    .get(
      '/api/portal/receipts/:id/file',
      async ({ acting, params, set }) => {
        const ended = await findOwn(deps, acting, params.id)
        set.headers['content-disposition'] = asFile(`${params.id}.receipt.json`)
        return ownFileOf(deps, ended, await deps.texts.find(ended.id))
      },
      { needsSession: { action: 'receipts:read' } },
    )
    .get(
      '/api/portal/receipts/:id/evidence',
      async ({ acting, params, set }) => {
        const ended = await findOwn(deps, acting, params.id)
        const file = fileIn(await ownEvidence(deps, ended))
        set.headers['content-disposition'] = asFile(`${params.id}.evidence.json`)
        return file
      },
      { needsSession: { action: 'receipts:read' } },
    )

/** @throws Refusal `receipt_not_found`, the same for a receipt of others as for none. */
export async function findOwn(deps: Deps, whose: KeyScope, id: string): Promise<Ended> {
  const found = isId('rcpt', id) ? await deps.receipts.find(id) : undefined
  return found && (await isOf(deps, found, whose)) ? found : refuse('receipt_not_found')
}
