/** Shares a receipt with others, changes what they see, and takes it back. */
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { toHex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import { takeFreeWrites } from '../../ledger/stored-beside.ts'
import type { AuditRow, ShareRow } from '../../storage/db/schema/schema.ts'
import { type Disclosures, type SectionName, sectionNames } from '../../verify/receipt.ts'
import { commitInput, commitOutput, contentSalts, type Ended, isErased } from './receipt.ts'
import type { Visibility } from './receipts.ts'
import type { ShareAnswer } from './shapes.ts'

export type TextName = 'input' | 'output'
export const textNames = ['input', 'output'] as const satisfies TextName[]

/** Sections that a share shows by default: neither the payer nor the commitments. */
export const defaultSections: readonly SectionName[] = ['run', 'charge', 'passport']

/** An account's request to change who sees one of its receipts, and which parts. */
export type ShareRequest = {
  account: string
  receiptId: string
  visibility: Visibility
  sections?: readonly SectionName[] | undefined
  /** Texts to show; what they open is shown with them. */
  reveal?: readonly TextName[] | undefined
  /** The texts themselves, where they were not kept. */
  texts?: { [Name in TextName]?: Json } | undefined
  /** The actor in the audit: `operator`, a wallet or a key id. */
  actor: string
}

type Needs = Pick<Deps, 'receipts' | 'shares' | 'texts' | 'clock' | 'ids' | 'ledger'>

/**
 * Shares a receipt, changes its share, or ends it (`private`), and returns the share. Copies made
 * meanwhile cannot be recalled. A wish that changes nothing leaves no audit row.
 * @throws Refusal `receipt_not_found` unless the account owns it, `unprocessable` for a text that
 * is missing or does not match the commitment.
 */
export async function shareReceipt(deps: Needs, wish: ShareRequest): Promise<ShareRow | undefined> {
  const { receiptId } = wish
  const ended = await deps.receipts.find(receiptId)
  if (!ended || ended.accountId !== wish.account) refuse('receipt_not_found')
  const before = await deps.shares.find(receiptId)
  const draft = await draftOf(deps, wish, ended, before)
  // To end a share takes something away, so it is never refused.
  if (draft && !isSame(before, draft)) await takeFreeWrites(deps.ledger, wish.account, draft)
  const audit = { id: deps.ids.make('req'), at: deps.clock.now() }
  let isTextGone = false
  const share = await deps.shares.change(receiptId, (held) => {
    if (held.isErased && draft && revealedNames(draft).length > 0) refuseErased()
    isTextGone = revealedNames(held.share).some((name) => !draft?.revealed[name])
    if (isSame(held.share, draft)) return { share: held.share, audit: undefined }
    const createdAt = held.share?.createdAt ?? audit.at
    const next = draft && { ...draft, createdAt, updatedAt: audit.at }
    return { share: next, audit: toAudit(audit, wish, held.share, next) }
  })
  if (isTextGone) await deps.texts.scrub()
  return share
}

/** The share as `/v1` shows it; of a private receipt there is nothing to show. */
export const toShareView = (
  receiptId: string,
  share: ShareRow | undefined,
  { baseUrl }: { baseUrl: string },
): ShareAnswer => ({
  object: 'share',
  receipt_id: receiptId,
  visibility: share?.visibility ?? 'private',
  sections: share?.sections ?? [],
  reveal: revealedNames(share),
  url: share ? `${baseUrl}/receipts/${receiptId}` : null,
  created_at: share ? toRfc3339(share.createdAt) : null,
  updated_at: share ? toRfc3339(share.updatedAt) : null,
})

/** The names of the texts that a share shows. */
export const revealedNames = (share: Pick<ShareRow, 'revealed'> | undefined): TextName[] =>
  textNames.filter((name) => share?.revealed[name] !== undefined)

type Draft = Omit<ShareRow, 'createdAt' | 'updatedAt'>

async function draftOf(
  deps: Needs,
  wish: ShareRequest,
  ended: Ended,
  before: ShareRow | undefined,
): Promise<Draft | undefined> {
  const { visibility, receiptId, reveal = [], sections = defaultSections } = wish
  if (visibility === 'private') return undefined
  if (reveal.length > 0 && isErased(ended)) refuseErased()
  const kept = reveal.length > 0 ? await deps.texts.find(ended.id) : undefined
  const revealed: Disclosures = {}
  for (const name of textNames.filter((one) => reveal.includes(one))) {
    const value = wish.texts?.[name] ?? kept?.[name] ?? before?.revealed[name]?.value
    revealed[name] = openedBy(ended, name, value)
  }
  // A text proves nothing where the commitment that it opens is hidden.
  const shown = reveal.length > 0 ? [...sections, 'content'] : sections
  return {
    receiptId,
    accountId: ended.accountId,
    visibility,
    sections: sectionNames.filter((name) => shown.includes(name)),
    revealed,
    digest: ended.digest,
  }
}

/** A text with the salt that it opens its commitment with. */
function openedBy(ended: Ended, name: TextName, value: Json | undefined) {
  const param = `disclosures.${name}`
  const committed = name === 'input' ? ended.inputCommitment : ended.outputCommitment
  if (committed === null) {
    refuse('unprocessable', { param: 'reveal', message: `This run has no ${name} to reveal.` })
  }
  if (value === undefined || value === null) {
    const message = `The ${name} of this run was not stored. Send it as ${param}.value.`
    refuse('unprocessable', { param, message })
  }
  const commit = name === 'input' ? commitInput : commitOutput
  if (toHex(commit(ended.seed, value)) !== toHex(committed)) {
    const message = `This is not the ${name} that the receipt commits to. ${exactly[name]}`
    refuse('unprocessable', { param, message })
  }
  return { salt: toHex(contentSalts(ended.seed)[name]), value }
}

const exactly: Record<TextName, string> = {
  input: 'Send the request body exactly as it was sent.',
  output: 'Send [{index, message, finish_reason}], or the data of an embedding, as answered.',
}

function refuseErased(): never {
  const message = 'The texts of this receipt were erased and can no longer be revealed.'
  refuse('unprocessable', { param: 'reveal', message })
}

/** Equal names are equal texts: a commitment opens with one only. */
const isSame = (share: ShareRow | undefined, draft: Draft | undefined): boolean =>
  JSON.stringify(toDetail(share)) === JSON.stringify(toDetail(draft))

/** The detail of an audit entry. It names revealed texts and never holds one. */
const toDetail = (share: Draft | undefined) => ({
  visibility: share?.visibility ?? 'private',
  sections: share?.sections ?? [],
  reveal: revealedNames(share),
})

const toAudit = (
  made: Pick<AuditRow, 'id' | 'at'>,
  { actor, account, receiptId }: Pick<ShareRequest, 'actor' | 'account' | 'receiptId'>,
  before: ShareRow | undefined,
  after: Draft | undefined,
): AuditRow => ({
  ...made,
  actor,
  action: after ? 'receipt.share' : 'receipt.unshare',
  accountId: account,
  subject: receiptId,
  detail: { from: toDetail(before), to: toDetail(after) },
})
