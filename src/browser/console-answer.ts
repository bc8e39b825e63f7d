/** Shows an answer of the console as it arrives. */
import { inputText, tokensText } from '../front/console/talk.ts'
import { maxNusd, toUsd } from '../kernel/money.ts'
import { outputUnitsOf } from '../models/meter.ts'
import { byId, element } from './dom.ts'

type Line = { meter: string; quantity: number }
type EndedRun = {
  cost_nusd: number
  receipt_id: string
  lines: Line[]
  output?: { message?: { content?: string | null } }[]
}
type Started = { receipt_id: string; hold_nusd: number }

/**
 * A question and its answer at the end of the talk, and the figures of the run beside it. An
 * answer is only ever text. `outputPusd`: what a token of it costs, to be seen as it comes.
 */
export function answerPanel(talk: HTMLElement, input: string, outputPusd: bigint) {
  const text = document.createTextNode('')
  const answer = element('p', { class: 'it' }, text)
  talk.append(element('p', { class: 'you' }, input), answer)
  talk.scrollTop = talk.scrollHeight
  let pieces = 0
  let firstMs = 0
  let lastMs = 0
  let held = 0n
  let receiptId = ''

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
    put('run-cost', `$${toUsd(cost)}`)
    put('run-receipt', element('a', { href }, shortId(receiptId)))
    const link = element('a', { href }, shortId(receiptId))
    talk.append(element('p', { class: 'cost quiet' }, `$${toUsd(cost)} · Receipt `, link))
  }

  return {
    /** The money is held, the model asked. */
    start({ receipt_id, hold_nusd }: Started): void {
      held = BigInt(hold_nusd)
      receiptId = receipt_id
      showUsed(0n, held)
      put('run-state', element('span', { class: 'live' }, 'Streaming'))
      put('run-receipt', `${shortId(receipt_id)}, when it ends`)
    },
    /** A piece of the answer, `ms` after it was asked. A piece is about a token. */
    add(piece: string, ms: number): void {
      const isAtEnd = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 40
      if (pieces === 0) {
        firstMs = ms
        put('run-first', `${Math.round(ms)} ms`)
      }
      pieces++
      lastMs = ms
      text.appendData(piece)
      showTokens(pieces)
      const used = (BigInt(pieces) * outputPusd) / 1000n
      showUsed(used < held ? used : held, held)
      if (isAtEnd) talk.scrollTop = talk.scrollHeight
    },
    /** The receipt counts, and its text is whole; answers it. */
    complete(run: EndedRun): string {
      const content = run.output?.[0]?.message?.content
      const said = typeof content === 'string' ? content : text.data
      if (said !== text.data) text.data = said
      put('run-input', inputText(run.lines))
      showTokens(outputUnitsOf(run.lines))
      showCost(BigInt(run.cost_nusd), `/receipts/${run.receipt_id}`)
      return said
    },
    /** It broke off, and this is what was charged, where that is known. */
    charge(metadata: Record<string, unknown> = {}): void {
      const { cost_nusd: cost, input_tokens: read, output_tokens: count } = metadata
      if (typeof read === 'number') put('run-input', tokensText(read))
      if (typeof count === 'number') showTokens(count)
      if (typeof cost === 'number') showCost(BigInt(cost), `/receipts/${receiptId}`)
    },
    end(isWhole: boolean): void {
      answer.classList.add('done')
      if (text.data === '') answer.remove()
      const state = isWhole ? 'Done' : 'Not finished'
      put('run-state', element('span', { class: isWhole ? 'tag ok' : 'tag bad' }, state))
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
