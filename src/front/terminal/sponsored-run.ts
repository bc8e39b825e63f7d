/** Asks a model without an account: the sponsor pays, and the visitor gets the receipt. */
import { sponsorAccount } from '../../access/accounts/account.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { Refusal, refuse, refuseField } from '../../kernel/refusal.ts'
import type { Model } from '../../models/model.ts'
import { shareReceipt } from '../../proof/receipts/share.ts'
import { begin } from '../../runs/begin.ts'
import type { LiveRun } from '../../runs/live-run.ts'
import type { Sink, StreamedAnswer } from '../../runs/stream.ts'
import type { SectionName } from '../../verify/receipt.ts'
import { runChat } from '../console/chat-run.ts'
import { type Allowance, type AllowanceUse, allowanceOf, giveBack, takeAsk } from './allowance.ts'
import type { Slots } from './slots.ts'
import { asVisitorReads, isAffordable, sponsorCaller } from './sponsor.ts'

/** Largest question in bytes of UTF-8, and largest answer in tokens. */
export const maxInputBytes = 2048
export const maxOutputTokens = 256

/** Time limit of an answer, in ms, after which its place is freed. */
const patienceMs = 100_000

/** Every section but the payer, which is the sponsor. */
const shownSections: readonly SectionName[] = ['passport', 'run', 'charge', 'content']

export type SponsoredRequest = {
  /** Identifies the client. */
  network: string
  input: string
  model: string | undefined
  /** The request as received, to which the receipt commits. */
  received: Json
}

/** A question with its hold. */
export type SponsoredRun = {
  live: LiveRun
  /**
   * Runs it, at most once, and shares its receipt as unlisted.
   * @throws Refusal of the run, after the receipt was shared
   */
  answer(sink: Sink): Promise<SponsoredAnswer>
}

export type SponsoredAnswer = StreamedAnswer & { allowance: Allowance }

/**
 * Begins a question that the sponsor pays. Counts it against the client first, and returns the ask
 * if it is refused or fails.
 * @throws Refusal `invalid_request`, `model_not_found`, `model_not_allowed`, `rate_limited`,
 * `concurrency_limited`, `unavailable`
 */
export async function beginSponsoredRun(
  deps: Deps,
  slots: Slots,
  wish: SponsoredRequest,
): Promise<SponsoredRun> {
  const { network, input, received } = wish
  const model = modelOf(deps, wish.model)
  assertInput(input)
  const leave = slots.take(network)
  let taken: AllowanceUse | undefined
  try {
    taken = await takeAsk(deps, network)
    const caller = await sponsorCaller(deps)
    const most = Math.min(maxOutputTokens, model.maxOutputTokens)
    const body = { model: model.id, messages: [{ role: 'user', content: input }], max_tokens: most }
    const run = { caller, model, body, received, background: false, tags: {}, metadata: {} }
    const live = await begin(deps, run)
    const counted = taken
    return { live, answer: (sink) => answer(deps, live, sink, { network, counted, leave }) }
  } catch (error) {
    // Frees the place first, because returning the ask can fail with the database.
    leave()
    if (taken) await giveBack(deps, taken)
    throw await asVisitorReads(deps, error)
  }
}

type HeldSlot = { network: string; counted: AllowanceUse; leave: () => void }

async function answer(
  deps: Deps,
  live: LiveRun,
  sink: Sink,
  held: HeldSlot,
): Promise<SponsoredAnswer> {
  const tooLong = setTimeout(() => live.stop('overdue'), patienceMs)
  try {
    const done = await runChat(deps, live, sink)
    await share(deps, done.receiptId)
    return { ...done, allowance: await allowanceOf(deps, held.network) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { outcome, receipt_id: receiptId } = error.detail.metadata ?? {}
    if (typeof receiptId === 'string') await share(deps, receiptId)
    // A client that hangs up has used the model; a failed run delivered nothing, so it is returned.
    if (outcome === 'failed' || outcome === 'interrupted') await giveBack(deps, held.counted)
    throw error
  } finally {
    clearTimeout(tooLong)
    held.leave()
  }
}

/** Makes the receipt readable for anyone who knows its id. Texts are not kept. */
async function share(deps: Deps, receiptId: string): Promise<void> {
  const wish = { account: sponsorAccount, receiptId, sections: shownSections, actor: 'terminal' }
  await shareReceipt(deps, { ...wish, visibility: 'unlisted' })
}

/** The terminal's models that the sponsor can pay for. */
export const terminalModels = (deps: Pick<Deps, 'catalogue' | 'settings'>): Model[] =>
  deps.catalogue
    .list()
    .filter(({ kind, terminal, status }) => kind === 'chat' && terminal && status !== 'disabled')
    .filter((model) => isAffordable(deps, model))

/** The named model; by default the operator's first one, then a built-in one. */
function modelOf(deps: Deps, id: string | undefined): Model {
  const models = terminalModels(deps)
  if (id === undefined) {
    const usual = models.find(({ ownedBy }) => ownedBy !== 'counterfoil') ?? models[0]
    return usual ?? refuse('unavailable', 'No model is available in the terminal.')
  }
  const named = deps.catalogue.named(id)
  if (!named || named.status === 'disabled') refuse('model_not_found', { param: 'model' })
  const open = models.find((model) => model === named)
  if (open) return open
  const others = models.map((model) => model.id).join(', ') || 'none'
  const message = `This model is not available in the terminal. Available: ${others}.`
  refuse('model_not_allowed', { param: 'model', message })
}

function assertInput(input: string): void {
  if (input.trim() === '') {
    refuseField('input', 'Enter a question: ask <text>.')
  }
  const bytes = Buffer.byteLength(input)
  if (bytes > maxInputBytes) {
    refuseField(
      'input',
      `A question can have at most ${maxInputBytes} bytes; this one has ${bytes}.`,
    )
  }
}
