import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import type { Model } from '../../models/model.ts'
import { shareReceipt } from '../../proof/receipts/share.ts'
import { begin } from '../../runs/begin.ts'
import type { LiveRun } from '../../runs/live-run.ts'
import type { Sink, Streamed } from '../../runs/stream.ts'
import type { SectionName } from '../../verify/receipt.ts'
import { askModel } from '../console/ask.ts'
import { type Allowance, allowanceOf, giveBack, type Taken, takeAsk } from './allowance.ts'
import type { Slots } from './slots.ts'
import {
  asVisitorReads,
  type HouseDeps,
  houseAccount,
  houseCaller,
  isAffordable,
} from './sponsor.ts'

/** Asking a model without an account: the house pays, and whoever asked gets the receipt. */
export type AskDeps = HouseDeps &
  Parameters<typeof begin>[0] &
  Parameters<typeof askModel>[0] &
  Pick<Deps, 'receipts' | 'shares' | 'texts' | 'signer'>

/** Bytes of UTF-8 of a question, and tokens of an answer. */
export const maxInputBytes = 2048
export const maxOutputTokens = 256

/** How long an answer may take, in ms: a place is not kept longer. */
const patienceMs = 100_000

/** All but who paid, which is the house. */
const shownSections: readonly SectionName[] = ['passport', 'run', 'charge', 'content']

export type AskWish = {
  /** What the client is counted under. */
  network: string
  input: string
  model: string | undefined
  /** The request as it was received: what the receipt commits to. */
  received: Json
}

/** A question whose money is held. */
export type OpenAsk = {
  live: LiveRun
  /**
   * Runs it, to be called once, and shares its receipt with whoever knows the id.
   * @throws Refusal as the engine, after the receipt was shared
   */
  answer(sink: Sink): Promise<Answered>
}

export type Answered = Streamed & { allowance: Allowance }

/**
 * Begins a question in the house's name: counted against the client first, and given back when it
 * is refused or nothing comes of it.
 * @throws Refusal `invalid_request`, `model_not_found`, `model_not_allowed`, `rate_limited`,
 * `concurrency_limited`, `unavailable`
 */
export async function beginAsk(deps: AskDeps, slots: Slots, wish: AskWish): Promise<OpenAsk> {
  const { network, input, received } = wish
  const model = modelOf(deps, wish.model)
  assertInput(input)
  const leave = slots.take(network)
  let taken: Taken | undefined
  try {
    taken = await takeAsk(deps, network)
    const caller = await houseCaller(deps)
    const most = Math.min(maxOutputTokens, model.maxOutputTokens)
    const body = { model: model.id, messages: [{ role: 'user', content: input }], max_tokens: most }
    const run = { caller, model, body, received, background: false, tags: {}, metadata: {} }
    const live = await begin(deps, run)
    const counted = taken
    return { live, answer: (sink) => answer(deps, live, sink, { network, counted, leave }) }
  } catch (error) {
    // Its place first: giving back may fail with the database, and a place must not go with it.
    leave()
    if (taken) await giveBack(deps, taken)
    throw await asVisitorReads(deps, error)
  }
}

type Held = { network: string; counted: Taken; leave: () => void }

async function answer(deps: AskDeps, live: LiveRun, sink: Sink, held: Held): Promise<Answered> {
  let isLate = false
  const tooLong = setTimeout(() => {
    isLate = true
    live.stop('cancelled')
  }, patienceMs)
  try {
    const done = await askModel(deps, live, sink)
    await share(deps, done.receiptId)
    return { ...done, allowance: await allowanceOf(deps, held.network) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { outcome, receipt_id: receiptId } = error.detail.metadata ?? {}
    if (typeof receiptId === 'string') await share(deps, receiptId)
    // Whoever hangs up has used the model all the same; of a broken one nobody had anything.
    if (outcome === 'failed' || outcome === 'interrupted') await giveBack(deps, held.counted)
    throw isLate ? new Refusal('upstream_timeout', error.detail) : error
  } finally {
    clearTimeout(tooLong)
    held.leave()
  }
}

/** Whoever has the id may read and check it. Texts are not kept, and so are not shown. */
async function share(deps: AskDeps, receiptId: string): Promise<void> {
  const wish = { account: houseAccount, receiptId, sections: shownSections, actor: 'terminal' }
  await shareReceipt(deps, { ...wish, visibility: 'unlisted' })
}

/** The models that answer in the terminal, as the house can pay them. */
export const terminalModels = (deps: Pick<AskDeps, 'catalogue' | 'settings'>): Model[] =>
  deps.catalogue
    .list()
    .filter(({ kind, terminal, status }) => kind === 'chat' && terminal && status !== 'disabled')
    .filter((model) => isAffordable(deps, model))

/** The model that is named; else the operator's first, before the built-in one. */
function modelOf(deps: AskDeps, id: string | undefined): Model {
  const models = terminalModels(deps)
  if (id === undefined) {
    const usual = models.find(({ ownedBy }) => ownedBy !== 'counterfoil') ?? models[0]
    return usual ?? refuse('unavailable', 'No model of this server answers in the terminal.')
  }
  const named = deps.catalogue.get(id)
  if (!named || named.status === 'disabled') refuse('model_not_found', { param: 'model' })
  const open = models.find((model) => model === named)
  if (open) return open
  const others = models.map((model) => model.id).join(', ') || 'none'
  const message = `This model does not answer in the terminal. Those that do: ${others}.`
  refuse('model_not_allowed', { param: 'model', message })
}

function assertInput(input: string): void {
  if (input.trim() === '') {
    refuse('invalid_request', { param: 'input', message: 'Write what to ask: ask <text>.' })
  }
  const bytes = Buffer.byteLength(input)
  if (bytes > maxInputBytes) {
    refuse('invalid_request', {
      param: 'input',
      message: `A question has at most ${maxInputBytes} bytes; this one has ${bytes}.`,
    })
  }
}
