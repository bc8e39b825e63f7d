import { scopes } from '../../../src/access/keys/key.ts'
import { toHex } from '../../../src/kernel/hex.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { bindKey } from '../../../src/proof/passports/bind.ts'
import { createPassport } from '../../../src/proof/passports/create.ts'
import { publishPassport } from '../../../src/proof/passports/publish.ts'
import { receiptIdOf } from '../../../src/proof/receipts/receipt.ts'
import type { AnchorRow, EndedRun, ShareRow } from '../../../src/storage/db/schema/schema.ts'
import { insert } from '../../../src/storage/db/sql/query-steps.ts'
import { countAll } from '../../billing/usage/receipts.ts'
import { usd, type World } from '../../support/world.ts'

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
export const showRun = (w: World, run: EndedRun, share: Partial<ShareRow> | undefined) =>
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

/** A public passport with one key bound to it, which runs and shares under it. */
export async function namedKey(w: World, handle: string, account: string) {
  const { key, secret } = await w.key({ account, balance: 10n * usd, scopes: [...scopes] })
  const made = await createPassport(w.deps, {
    account,
    handle,
    displayName: handle,
    kind: 'agent',
    bio: '',
    links: [],
    ownerShown: false,
  })
  const passport = await publishPassport(w.deps, { passport: made, actor: account })
  await bindKey(w.deps, { passport, keyId: key.id, actor: account })
  return secret
}

/** Heads of the log as the anchor worker leaves them, each over `leaves` more. */
export async function addAnchors(w: World, leaves: readonly number[]): Promise<AnchorRow[]> {
  let size = 0
  const made = leaves.map((more, i): AnchorRow => {
    size += more
    return {
      id: w.deps.ids.make('anc'),
      issuer: w.deps.settings.issuer,
      size,
      prevSize: size - more,
      root: systemRandom().bytes(32),
      status: i === leaves.length - 1 ? 'confirmed' : 'final',
      createdAt: w.deps.clock.now(),
      nonce: i,
      submittedAt: w.deps.clock.now(),
      txHash: toHex(systemRandom().bytes(32)),
      blockNumber: 8_120_391 + i,
      blockHash: toHex(systemRandom().bytes(32)),
      blockTime: w.deps.clock.now(),
      finalizedAt: null,
      error: null,
    }
  })
  await w.db.write(function* () {
    yield* insert(w.db.tables.anchors, made)
  })
  return made
}
