/**
 * Keeps the talk of the console over a reload, in this tab alone: for the wallet and the account
 * that it acts for, whose key pays for the next question and may keep its text.
 */

import type { Turn } from '../front/console/talk.ts'
import { readAnswer } from '../models/answers/answer-parts.ts'
import { shortId } from './console-answer.ts'
import { callFolds, drawnImages, reasoningFold, sentFiles } from './console-parts.ts'
import { element } from './dom.ts'
import { markdownIn } from './markdown.ts'

/** A question with the part of its answer that came. */
export type KeptTurn = Turn & {
  /** As the page writes it: `$0.0021`. */
  cost?: string
  /** It was a command, or broke off: the next question does not carry it. */
  isAside?: boolean
  isCommand?: boolean
}

const talkKey = 'counterfoil.talk'

function accountHere(): string {
  const { account = '', acting = '' } =
    document.querySelector<HTMLElement>('[data-account]')?.dataset ?? {}
  return `${account}/${acting}`
}

/** The most questions that a reload brings back. */
const saidMax = 40

/** The talk of this tab, shown in the element `talk`. */
export function keptTalk(talk: HTMLElement) {
  let said: KeptTurn[] = []
  let isOver = false
  return {
    add(one: KeptTurn): void {
      if (isOver) return
      said = [...said, one].slice(-saidMax)
      writeTalk(said)
    },
    /** Ends the talk: what still comes of its last answer is not kept either. */
    forget(): void {
      isOver = true
      forgetTalk()
    },
    /** Shows the talk as it was kept; answers its turns that a next question carries. */
    restore(): Turn[] {
      said = readTalk()
      for (const one of said) void showSaid(talk, one)
      talk.scrollTop = talk.scrollHeight
      return said.flatMap(({ cost: _, isAside, ...turn }) => (isAside ? [] : [turn]))
    },
  }
}

/** The talk that was kept of this account; that of another one goes. */
function readTalk(): KeptTurn[] {
  const text = sessionStorage.getItem(talkKey)
  if (text === null) return []
  const { account, said } = JSON.parse(text) as { account: string; said: KeptTurn[] }
  if (account === accountHere()) return said
  forgetTalk()
  return []
}

function writeTalk(said: readonly KeptTurn[]): void {
  const text = (of: readonly KeptTurn[]) => JSON.stringify({ account: accountHere(), said: of })
  try {
    sessionStorage.setItem(talkKey, text(said))
  } catch {
    // Files fill the few megabytes of a tab soon: the words are kept then.
    const words = said.map(({ files: _, reply: __, ...rest }) => rest)
    try {
      sessionStorage.setItem(talkKey, text(words))
    } catch {
      forgetTalk()
    }
  }
}

const forgetTalk = (): void => sessionStorage.removeItem(talkKey)

/** Shows a question and its answer as they were. */
async function showSaid(talk: HTMLElement, said: KeptTurn): Promise<void> {
  talk.append(...sentFiles(said.files ?? []), element('p', { class: 'you' }, said.input))
  if (said.isCommand) {
    talk.append(element('p', { class: 'it done told' }, said.output))
    return
  }
  const answer = element('div', { class: 'it done' })
  talk.append(answer)
  const { reasoning, calls, images } = readAnswer(said.reply ?? {})
  reasoningFold(answer).end(reasoning)
  const folds = callFolds(answer)
  folds.end(calls)
  const text = markdownIn(answer, talk)
  text.end(said.output)
  if (said.output === '') answer.remove()
  if (said.receipt_id) {
    const link = element('a', { href: `/receipts/${said.receipt_id}` }, shortId(said.receipt_id))
    const cost = said.cost === undefined ? 'Receipt ' : `${said.cost} · Receipt `
    talk.append(element('p', { class: 'cost quiet' }, cost, link))
  }
  if (images.length > 0) folds.last().after(...(await drawnImages(images)))
}
