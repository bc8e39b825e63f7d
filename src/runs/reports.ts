/** Learns from reported runs how to count those that end without a report. */
import type { Clock } from '../kernel/clock.ts'
import { toHex } from '../kernel/hex.ts'
import type { Random } from '../kernel/random.ts'
import { Conversations, type Turn } from '../models/conversations.ts'
import { type CountingRule, tokensOfBytes } from '../models/count.ts'
import type { Usage } from '../models/meter.ts'
import type { Model } from '../models/model.ts'
import { hasCacheRate } from '../models/rates.ts'
import { isReasoning } from '../models/reasoning.ts'
import { pricesAt } from '../models/step-prices.ts'
import { type KnownPrefix, sealedTokens } from '../models/usage.ts'
import type { LiveRun } from './live-run.ts'

/** The side that ended an answer which is not whole. */
export type Breaker = 'server' | 'client'

/** The bytes of an answer: said, sealed, and dropped because its client had left. */
export type OutputBytes = {
  outputBytes: number
  sealedBytes?: number | undefined
  droppedBytes?: number | undefined
}

export type Reports = {
  /** Notes the usage of a whole answer as its model server reported it, within its bound. */
  note(live: LiveRun, usage: Usage, came: OutputBytes): void
  /** The bytes of a token in an answer that is not whole. */
  countingOf(live: LiveRun, breaker: Breaker): CountingRule
  /** Whether a run of a model goes on when its client hangs up. `asks`: for reasoning. */
  drains(model: Model, asks: boolean): boolean
  /**
   * The tokens that a run, which is stopped now, has written unseen: as many as its model's
   * reported runs, less what came sealed, and fewer while it has not taken as long as they did.
   */
  hiddenTokensOf(live: LiveRun, came: OutputBytes): number
  /** Finds out which conversation a run is of, before its request is dropped. */
  keepConversation(live: LiveRun): void
  /** The beginning of a request, by the last report of its conversation. */
  prefixOf(live: LiveRun): KnownPrefix | undefined
}

/**
 * The most bytes of a token where the client chose the end and nothing is known. Digits, code and
 * CJK have fewer bytes a token than prose, so at a larger number that end would be a discount.
 */
const mostUnknown = 3

/** A little less than the figure: an end that is chosen must not be a discount. */
const lessMargin = 0.9

export function makeReports({ clock, random }: { clock: Clock; random: Random }): Reports {
  const sizes = new TokenSizes()
  const hidden = new HiddenTokens()
  const conversations = new Conversations(BigInt(toHex(random.bytes(8))))
  return {
    note(live, usage, came) {
      const { model, bound } = live
      const outputBytes = came.outputBytes + (came.droppedBytes ?? 0)
      const { inputTokens, outputTokens, classes = {} } = usage
      if (!model.tokenizer && !model.isBytesPerTokenSet) {
        const of = { model: model.id, account: live.row.accountId }
        const isText = !bound.countedMedia && !classes.audio_input && !classes.image_input
        const bytes = bound.inputBytes
        if (isText && !classes.web_search) sizes.note(of, 'read', { bytes, tokens: inputTokens })
        const isSaid = !classes.reasoning && !classes.audio_output && !classes.image_output
        if (isSaid) sizes.note(of, 'said', { bytes: outputBytes, tokens: outputTokens })
      }
      if (model.kind === 'chat') {
        const bytesPerToken = bytesOf(model, sizes.of(model.id, 'said'), 'server')
        hidden.note(kindOf(model, live.asksReasoning), {
          account: live.row.accountId,
          written: outputTokens,
          counted: tokensOfBytes(outputBytes, bytesPerToken),
          reasoning: classes.reasoning ?? 0,
          isMore: outputTokens > outputBytes,
          durationMs: clock.monotonic() - live.startedAt,
        })
      }
      if (!hasCacheRate(pricesAt(model, live.step)) || inputTokens === 0) return
      const read = { tokens: inputTokens, cached: classes.cache_read ?? 0 }
      conversations.note(turnOf(live), read, clock.monotonic())
    },
    countingOf({ model }, breaker) {
      const { id, tokenizer } = model
      const bytesPerToken = bytesOf(model, sizes.of(id, 'said'), breaker)
      const readBytesPerToken = bytesOf(model, sizes.of(id, 'read'), breaker)
      return { bytesPerToken, readBytesPerToken, tokenizer }
    },
    drains(model, asks) {
      if (model.onDisconnect) return model.onDisconnect === 'drain'
      if (model.kind !== 'chat') return false
      const kind = kindOf(model, asks)
      const mayHide = asks || isReasoning(model) || hidden.of(kind) !== undefined
      return mayHide && !hidden.isStreamed(kind)
    },
    hiddenTokensOf({ model, asksReasoning, startedAt }, { sealedBytes = 0 }) {
      const usual = hidden.of(kindOf(model, asksReasoning))
      if (!usual) return 0
      const share = Math.min(1, (clock.monotonic() - startedAt) / Math.max(1, usual.ms))
      return Math.max(0, Math.floor(usual.tokens * share) - sealedTokens(sealedBytes))
    },
    keepConversation(live) {
      if (hasCacheRate(pricesAt(live.model, live.step)))
        live.conversation = conversations.chainOf(turnOf(live))
    },
    prefixOf(live) {
      if (!hasCacheRate(pricesAt(live.model, live.step))) return undefined
      return conversations.prefixOf(turnOf(live), clock.monotonic())
    },
  }
}

/** The bytes of a token of a model whose reported runs say `size`, if they say anything. */
function bytesOf(
  { bytesPerToken: set, isBytesPerTokenSet }: Model,
  size: number | undefined,
  breaker: Breaker,
): number {
  const own = isBytesPerTokenSet ? set : size
  if (breaker === 'server') return own ?? set
  return own === undefined ? Math.min(set, mostUnknown) : Math.max(1, own * lessMargin)
}

/** Requests of a model that ask for reasoning are another kind than those that do not. */
const kindOf = ({ id }: Model, asks: boolean): string => (asks ? `${id} reasoning` : id)

const turnOf = (live: LiveRun): Turn => ({
  account: live.row.accountId,
  model: live.model.id,
  route: live.step ? `${live.step.upstream}:${live.step.model}` : '',
  request: live.native?.members ?? live.body ?? {},
  chain: live.conversation,
  bytes: live.bound.inputBytes,
  media: live.bound.countedMedia ?? 0,
})

/** So many runs that reasoned have to be reported before their reasoning counts as streamed. */
const leastStreamed = 8
/** The most of their output that may be missing then: bytes tell tokens only roughly. */
const mostMissing = 0.1

/** A reported run, in tokens. */
type ReportedRun = {
  account: string
  written: number
  /** Tokens that came, as they would be counted. */
  counted: number
  /** The tokens of its reasoning as its server reports them, if it does. */
  reasoning: number
  /** Whether it wrote more than can have come: a token has a byte at least. */
  isMore: boolean
  durationMs: number
}

/** The usual run of a kind: the tokens that did not come, and how long it took. */
type HiddenShare = { tokens: number; ms: number }

/** The lower median of accounts counts, so that one alone cannot make the others' runs dearer. */
class HiddenTokens {
  private readonly sums = new AccountSums<'hidden' | 'written' | 'ms' | 'reasoned'>()

  note(
    kind: string,
    { account, written, counted, reasoning, isMore, durationMs: ms }: ReportedRun,
  ): void {
    const missing = Math.max(0, written - counted)
    const unseen = isMore ? missing : 0
    const hidden = reasoning > 0 ? Math.min(reasoning, missing) : unseen
    this.sums.add(kind, account, { hidden, written, ms, reasoned: reasoning > 0 ? 1 : 0 })
  }

  /** Undefined where nothing was hidden so far. */
  of(kind: string): HiddenShare | undefined {
    const all = this.sums.of(kind)
    if (!all.some(({ hidden }) => hidden > 0)) return undefined
    const usual = all.map(({ runs, hidden, ms }) => ({ tokens: hidden / runs, ms: ms / runs }))
    return lowerMedian(usual, ({ tokens }) => tokens)
  }

  /** Whether the reasoning of these runs came, all of it, in the runs of every account. */
  isStreamed(kind: string): boolean {
    const all = this.sums.of(kind)
    const reasoned = all.reduce((sum, one) => sum + one.reasoned, 0)
    return (
      reasoned >= leastStreamed &&
      all.every(({ hidden, written }) => hidden <= written * mostMissing)
    )
  }
}

/** The two sides are measured apart: text that is read is JSON. */
type TextSide = 'read' | 'said'

/** So many runs of a model have to be reported before they say anything. */
const leastRuns = 8
/** Shorter texts are mostly the frame around them. */
const leastTokens = 100
/** Bytes of a token at most: what has more is padding. */
const mostBytes = 16

/** The lower median of accounts counts, so that one alone cannot make a token large for all. */
export class TokenSizes {
  private readonly sides = {
    read: new AccountSums<'bytes' | 'tokens'>(),
    said: new AccountSums<'bytes' | 'tokens'>(),
  }

  /** Notes a reported run. Tokens without a byte each are hidden reasoning, and say nothing. */
  note(
    { model, account }: { model: string; account: string },
    side: TextSide,
    { bytes, tokens }: { bytes: number; tokens: number },
  ): void {
    if (tokens < leastTokens || tokens > bytes) return
    this.sides[side].add(model, account, { bytes: Math.min(bytes, tokens * mostBytes), tokens })
  }

  /** Bytes of a token, from 1 to 16; undefined while too little is known. */
  of(model: string, side: TextSide): number | undefined {
    const all = this.sides[side].of(model)
    if (all.reduce((sum, { runs }) => sum + runs, 0) < leastRuns) return undefined
    const sizes = all.map(({ bytes, tokens }) => bytes / tokens)
    return lowerMedian(sizes, (size) => size)
  }
}

/** The accounts of a figure that are remembered. */
const mostAccounts = 64
/** Sums of an account are halved after so many runs, so that they follow what is asked now. */
const mostRuns = 64

/** Sums of an account; `runs` counts how many runs they are of. */
type AccountSum<Name extends string> = { [Each in Name | 'runs']: number }

/** The sums of each account, by the model or the kind of runs that they are of. */
class AccountSums<Name extends string> {
  private readonly kinds = new Map<string, Map<string, AccountSum<Name>>>()

  /** Adds what one run of an account counts. */
  add(kind: string, account: string, run: { [Each in Name]: number }): void {
    const sums = this.kinds.get(kind) ?? new Map<string, AccountSum<Name>>()
    this.kinds.set(kind, sums)
    const known = sums.get(account)
    if (!known) {
      const [oldest] = sums.keys()
      if (sums.size >= mostAccounts && oldest !== undefined) sums.delete(oldest)
      sums.set(account, { ...run, runs: 1 })
      return
    }
    const kept = known.runs >= mostRuns ? 0.5 : 1
    known.runs = known.runs * kept + 1
    for (const name in run) known[name] = known[name] * kept + run[name]
  }

  /** The sums of all accounts that are remembered. */
  of(kind: string): AccountSum<Name>[] {
    return [...(this.kinds.get(kind)?.values() ?? [])]
  }
}

/** The lower median of accounts; undefined where there are none. */
function lowerMedian<Figure>(
  figures: readonly Figure[],
  sizeOf: (figure: Figure) => number,
): Figure | undefined {
  const rising = figures.toSorted((a, b) => sizeOf(a) - sizeOf(b))
  return rising[Math.floor((rising.length - 1) / 2)]
}
