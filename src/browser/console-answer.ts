/** Shows an answer of the console as it arrives. */

import type { SentFile } from '../front/console/files.ts'
import { inputText, tokensText } from '../front/console/talk.ts'
import type { JsonObject } from '../kernel/json-object.ts'
import { maxNusd, toUsd } from '../kernel/money.ts'
import { type Answer, type CallPiece, readAnswer } from '../models/answers/answer-parts.ts'
import { outputUnitsOf } from '../models/meter.ts'
import { callFolds, drawnImages, reasoningFold, sentFiles } from './console-parts.ts'
import { byId, element } from './dom.ts'
import { markdownIn } from './markdown.ts'
import { addVisitReceipt } from './visit-receipts.ts'

type Line = { meter: string; quantity: number }
type EndedRun = {
  cost_nusd: number
  receipt_id: string
  lines: Line[]
  output?: { message?: JsonObject }[]
}
type RunStart = { receipt_id: string; hold_nusd: number }

type AskedQuestion = { input: string; files?: readonly SentFile[] }

/**
 * A question and its answer at the end of the talk, and the figures of the run beside it.
 * `outputPusd`: what a token of it costs, to be seen as it comes.
 */
export function answerPanel(
  talk: HTMLElement,
  { input, files = [] }: AskedQuestion,
  outputPusd: bigint,
) {
  const answer = element('div', { class: 'it' })
  const text = markdownIn(answer, talk)
  talk.append(...sentFiles(files), element('p', { class: 'you' }, input), answer)
  const reasoning = reasoningFold(answer)
  const calls = callFolds(answer)
  talk.scrollTop = talk.scrollHeight
  let pieces = 0
  let firstMs = 0
  let lastMs = 0
  let held = 0n
  let receiptId = ''
  let costText: string | undefined

  put('run-state', element('span', { class: 'live' }, 'Sending'))
  for (const id of ['run-first', 'run-speed', 'run-input', 'run-output', 'run-cost']) put(id, '–')
  put('run-receipt', '–')
  showUsed(0n, 0n)

  const showTokens = (count: number): void => {
    put('run-output', tokensText(count))
    const seconds = (lastMs - firstMs) / 1000
    if (seconds > 0.05)
      put('run-speed', `${Math.round(count / seconds).toLocaleString('en-US')} tokens/s`)
  }
  const showCost = (cost: bigint, href: string): void => {
    showUsed(cost, held)
    costText = `$${toUsd(cost)}`
    put('run-cost', costText)
    put('run-receipt', element('a', { href }, shortId(receiptId)))
    const link = element('a', { href }, shortId(receiptId))
    talk.append(element('p', { class: 'cost quiet torn' }, `$${toUsd(cost)} · Receipt `, link))
    addVisitReceipt({ href, name: shortId(receiptId), cost: `$${toUsd(cost)}` })
  }

  /** Adds what came; a piece is about a token. */
  const addPiece = (write: () => void, ms: number): void => {
    const isAtEnd = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 40
    if (pieces === 0) {
      firstMs = ms
      put('run-first', `${Math.round(ms)} ms`)
    }
    pieces++
    lastMs = ms
    write()
    showTokens(pieces)
    const used = (BigInt(pieces) * outputPusd) / 1000n
    showUsed(used < held ? used : held, held)
    if (isAtEnd) talk.scrollTop = talk.scrollHeight
  }

  return {
    /** The money is held, the model asked. */
    start({ receipt_id, hold_nusd }: RunStart): void {
      held = BigInt(hold_nusd)
      receiptId = receipt_id
      showUsed(0n, held)
      put('run-state', element('span', { class: 'live' }, 'Streaming'))
      put('run-receipt', `${shortId(receipt_id)}, when it ends`)
    },
    /** A piece of the answer's text, `ms` after it was asked. */
    add(piece: string, ms: number): void {
      addPiece(() => text.add(piece), ms)
    },
    addReasoning(piece: string, ms: number): void {
      addPiece(() => reasoning.add(piece), ms)
    },
    addCall(piece: CallPiece, ms: number): void {
      addPiece(() => calls.add(piece), ms)
    },
    /** The receipt counts, and what it names is whole; answers it. */
    async complete(run: EndedRun): Promise<{ answer: Answer; message: JsonObject }> {
      const message = run.output?.[0]?.message ?? {}
      const said = readAnswer(message)
      if (said.text !== '') text.end(said.text)
      reasoning.end(said.reasoning)
      calls.end(said.calls)
      calls.last().after(...(await drawnImages(said.images)))
      put('run-input', inputText(run.lines))
      showTokens(outputUnitsOf(run.lines))
      showCost(BigInt(run.cost_nusd), `/receipts/${run.receipt_id}`)
      return { answer: { ...said, text: text.text() }, message }
    },
    /** It broke off, and this is what was charged, where that is known. */
    charge(metadata: Record<string, unknown> = {}): void {
      const { cost_nusd: cost, input_tokens: read, output_tokens: count } = metadata
      if (typeof read === 'number') put('run-input', tokensText(read))
      if (typeof count === 'number') showTokens(count)
      if (typeof cost === 'number') showCost(BigInt(cost), `/receipts/${receiptId}`)
    },
    /** The text so far, with the receipt that it has or will have. */
    ended: () => ({
      output: text.text(),
      ...(receiptId && { receipt_id: receiptId }),
      ...(costText && { cost: costText }),
    }),
    /** `isOwn`: stopped by the person who asked. */
    end(isWhole: boolean, isOwn = false): void {
      answer.classList.add('done')
      text.end()
      if (!isWhole) {
        reasoning.end()
        calls.end()
      }
      if (text.text() === '') answer.remove()
      const [tone, state] = isWhole
        ? ['ok', 'Done']
        : isOwn
          ? ['wait', 'Stopped']
          : ['bad', 'Not finished']
      put('run-state', element('span', { class: `st ${tone}` }, state))
      talk.scrollTop = talk.scrollHeight
    },
  }
}

const put = (id: string, value: Node | string): void => byId(id, HTMLElement).replaceChildren(value)

function showUsed(used: bigint, held: bigint): void {
  const meter = byId('this-run', HTMLElement).querySelector('.meter')
  const bar = meter?.querySelector('progress')
  const words = meter?.querySelector('small')
  if (!bar || !words) return
  const said = `$${toUsd(used)} of $${toUsd(held < maxNusd ? held : maxNusd)} held`
  bar.value = held === 0n ? 0 : Number((used * 1000n) / held)
  bar.setAttribute('aria-label', said)
  words.textContent = said
}

/** As the server writes ids: both ends. */
export const shortId = (id: string): string => `${id.slice(0, 9)}…${id.slice(-6)}`
