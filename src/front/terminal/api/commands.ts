/** Answers the look-ups of the terminal. */
import { isOf } from '../../../access/keys/owns.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { isId } from '../../../kernel/ids.ts'
import { nearest } from '../../../kernel/nearest.ts'
import { defaultPageLimit } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { modelsOf } from '../../../models/api.ts'
import { toModelView } from '../../../models/catalogue.ts'
import type { Model } from '../../../models/model.ts'
import { anchorsOf } from '../../../proof/anchors/api.ts'
import { witnessedProofOf } from '../../../proof/log/tlog-proofs.ts'
import { passportOf } from '../../../proof/passports/api.ts'
import { findPublicPassport } from '../../../proof/passports/browse.ts'
import { checkReceipt } from '../../../proof/receipts/check-receipt.ts'
import { judgeStored } from '../../../proof/receipts/judge.ts'
import type { Ended } from '../../../proof/receipts/receipt.ts'
import { ownFileOf, sharedFileOf } from '../../../proof/receipts/receipt-file.ts'
import { numbered } from '../../../proof/receipts/sign.ts'
import { signerOf } from '../../../proof/signer/api.ts'
import { receiptsOf } from '../../explorer/api.ts'
import type { PublicDeps } from '../../explorer/public-cache.ts'
import { statusOf } from '../../status/api.ts'
import { type CommandName, commands } from '../language.ts'
import {
  anchorLines,
  helpLines,
  modelLines,
  passportLines,
  priceLines,
  proofLines,
  receiptLines,
  recentLines,
  signerLines,
  statusLines,
  verdictLines,
} from './lines.ts'

/** What a command answers: plain lines for people, and what `/v1` answers for programs. */
export type CommandResult = { lines: string[]; data: unknown }

/** The signed-in caller, an account or a branch of it, who also sees their private receipts. */
export type Viewer = { acting: Actor | undefined }

type Run = (
  deps: PublicDeps,
  argument: string,
  viewer: Viewer,
) => CommandResult | Promise<CommandResult>

/** What each look-up does: every command but `ask`. */
export const lookUps: Record<Exclude<CommandName, 'ask'>, Run> = {
  help: () => ({ lines: helpLines(commands), data: { object: 'list', data: commands } }),
  status: async (deps) => {
    const data = await statusOf(deps)
    return { lines: statusLines(data), data }
  },
  models: (deps) => {
    const data = modelsOf(deps.catalogue)
    return { lines: modelLines(deps.catalogue.list()), data }
  },
  price: (deps, id) => {
    const model = modelNamed(deps, id)
    return { lines: priceLines(model, deps.catalogue.priceList), data: toModelView(model) }
  },
  verify,
  receipt,
  proof: async (deps, id) => {
    const found = await find(deps, id)
    const { issuer, logIndex } = await numbered(deps, id, found)
    const data = await witnessedProofOf(deps, { id, issuer, index: logIndex })
    return { lines: proofLines(data), data }
  },
  passport: async (deps, handle) => {
    const data = await passportOf(deps, await findPublicPassport(deps, handle))
    return { lines: passportLines(data), data }
  },
  anchors: async (deps) => {
    const data = await anchorsOf(deps, new URLSearchParams())
    return { lines: anchorLines(data), data }
  },
  recent: async (deps) => {
    const page = { limit: defaultPageLimit, after: undefined }
    const data = await receiptsOf(deps, page, new URLSearchParams())
    return { lines: recentLines(data), data }
  },
  signer: async (deps) => {
    const data = await signerOf(deps)
    return { lines: signerLines(data), data }
  },
}

async function verify(deps: PublicDeps, id: string, viewer: Viewer): Promise<CommandResult> {
  const own = await findOwn(deps, id, viewer)
  const file = own && (await ownFileOf(deps, own, await deps.texts.find(own.id)))
  const data = file
    ? { ...(await judgeStored(deps, own, file)).verdict, source: 'stored' }
    : await checkReceipt(deps, { id })
  return { lines: verdictLines(data), data }
}

/** As its owner shares it; to the owner all of it. */
async function receipt(deps: PublicDeps, id: string, { acting }: Viewer): Promise<CommandResult> {
  const found = await find(deps, id)
  const share = await deps.shares.find(id)
  const isOwn = acting !== undefined && (await isOf(deps, found, acting))
  if (!isOwn && !share) refuse('receipt_not_found')
  const file =
    isOwn || !share
      ? await ownFileOf(deps, found, await deps.texts.find(found.id))
      : await sharedFileOf(deps, found, share)
  const visibility = share?.visibility ?? 'private'
  const data = isOwn ? { ...file, visibility } : file
  return { lines: receiptLines(file.receipt, visibility), data }
}

async function find({ receipts }: PublicDeps, id: string): Promise<Ended> {
  const found = isId('rcpt', id) ? await receipts.find(id) : undefined
  return found ?? refuse('receipt_not_found')
}

async function findOwn(deps: PublicDeps, id: string, { acting }: Viewer) {
  const found = acting && isId('rcpt', id) ? await deps.receipts.find(id) : undefined
  return found && acting && (await isOf(deps, found, acting)) ? found : undefined
}

function modelNamed({ catalogue }: PublicDeps, id: string): Model {
  const model = catalogue.named(id)
  if (model) return model
  const ids = catalogue.list().map((one) => one.id)
  const guess = nearest(id, ids)
  const second = guess === undefined ? '"models" lists those there are.' : `Did you mean ${guess}?`
  refuse('model_not_found', {
    message: `There is no such model. ${second}`,
    metadata: { nearest: guess ?? null },
  })
}
