import type { RunRow, ShareRow } from '../../src/db/schema.ts'
import { receiptIdOf } from '../../src/receipts/receipt.ts'
import type { World } from '../support/world.ts'
import { countAll } from '../usage/receipts.ts'

/** Runs the built-in model once; its receipt is logged and counted. */
export async function runOnce(w: World, key: string, content = 'one two'): Promise<string> {
  const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content }] }
  const answer = await w.call('/v1/chat/completions', { key, json })
  const { receipt } = await answer.json()
  await w.deps.sequencer.flush()
  await countAll(w)
  return receipt.id
}

export const shareAs = (w: World, key: string, id: string, json: object): Promise<Response> =>
  w.call(`/v1/receipts/${id}/share`, { key, json })

/** Writes who sees a receipt of a run that was only written to the database. */
export const showRun = (w: World, run: RunRow, share: Partial<ShareRow> | undefined) =>
  w.deps.shares.change(receiptIdOf(run.id), () => ({
    share: share && {
      receiptId: receiptIdOf(run.id),
      accountId: run.accountId,
      visibility: 'public',
      sections: ['run', 'charge'],
      revealed: {},
      digest: run.digest,
      createdAt: run.createdAt,
      updatedAt: run.createdAt,
      ...share,
    },
    audit: {
      id: w.deps.ids.make('req'),
      at: run.createdAt,
      actor: 'test',
      action: 'receipt.share',
      accountId: run.accountId,
      subject: receiptIdOf(run.id),
      detail: {},
    },
  }))

export const json = async (w: World, path: string, init: RequestInit = {}) =>
  (await w.call(path, init)).json()
