/** Shows files of a message, and the parts of an answer that are folded or drawn. */

import { bytesIn, type SentFile, sizeText } from '../front/console/files.ts'
import {
  type CallPiece,
  callTitle,
  hiddenImage,
  imageTitle,
  isRaster,
  prettyJson,
  reasoningTitle,
  type ToolCall,
} from '../models/answers/answer-parts.ts'
import { element } from './dom.ts'

/** An image of a message, or the name of another file. */
export const preview = ({ name, data }: SentFile): HTMLElement =>
  isRaster(data)
    ? element('img', { class: 'thumb', src: data, alt: name })
    : element('span', { class: 'thumb' }, `${name}, ${sizeText(bytesIn(data.length))}`)

/** The files that belong to a message; nothing for none. */
export const sentFiles = (files: readonly SentFile[]): HTMLElement[] => {
  if (files.length === 0) return []
  const items = files.map((file) => element('li', {}, preview(file)))
  return [element('ul', { class: 'bare sent', 'aria-label': 'Files sent' }, ...items)]
}

/**
 * Images of an answer, each in the URL itself; others are named as text. They are decoded, so that
 * their size is known when they come into the page.
 */
export const drawnImages = (urls: readonly string[]): Promise<HTMLElement[]> =>
  Promise.all(
    urls.map(async (url, at) => {
      if (!isRaster(url)) return element('p', { class: 'it done' }, hiddenImage(url))
      const image = element('img', { class: 'drawn', src: url, alt: imageTitle(at) })
      await image.decode().catch(() => undefined)
      return image
    }),
  )

/** A text that is folded under its title. The title changes once, when the text is whole. */
function fold(tag: 'p' | 'pre', ...title: (Node | string)[]) {
  const text = document.createTextNode('')
  const summary = element('summary', {}, ...title)
  const panel = element('details', { class: 'aside' }, summary, element(tag, {}, text))
  return { panel, summary, text }
}

/** The folded reasoning in front of an answer; it is there from its first piece on. */
export function reasoningFold(answer: HTMLElement) {
  let folded: ReturnType<typeof fold> | undefined
  return {
    add(piece: string): void {
      if (!folded) {
        folded = fold('p', 'Reasoning…')
        answer.before(folded.panel)
      }
      folded.text.appendData(piece)
    },
    /** `whole`: what the receipt counts, where it is known. */
    end(whole?: string): void {
      if (whole && !folded) this.add(whole)
      if (!folded) return
      if (whole && whole !== folded.text.data) folded.text.data = whole
      folded.summary.textContent = reasoningTitle(folded.text.data)
    },
  }
}

/** The folded calls of tools behind an answer. */
export function callFolds(answer: HTMLElement) {
  const folds = new Map<number, ReturnType<typeof fold>>()
  const open = (index: number): ReturnType<typeof fold> => {
    const known = folds.get(index)
    if (known) return known
    const fresh = fold('pre', `${callTitle} `, element('code'))
    const last = [...folds.values()].at(-1)
    ;(last?.panel ?? answer).after(fresh.panel)
    folds.set(index, fresh)
    return fresh
  }
  const nameOf = ({ summary }: ReturnType<typeof fold>) => summary.lastElementChild
  return {
    add({ index, name, input }: CallPiece): void {
      const call = open(index)
      nameOf(call)?.append(name)
      call.text.appendData(input)
    },
    /** `whole`: the calls as the receipt counts them, where they are known. */
    end(whole?: readonly ToolCall[]): void {
      whole?.forEach(({ name, input }, index) => {
        const call = open(index)
        nameOf(call)?.replaceChildren(name)
        call.text.data = input
      })
      for (const { text } of folds.values()) text.data = prettyJson(text.data)
    },
    /** The last one, which what follows comes behind. */
    last: (): HTMLElement => [...folds.values()].at(-1)?.panel ?? answer,
  }
}

/** A piece of a listing, and the place after it where its line may break. */
export const asPiece = (piece: string): (Node | string)[] => {
  if (piece.trim() === '') return [piece]
  // A line breaks after a hyphen too, unless its word is in an element that forbids it.
  return [piece.includes('-') ? element('span', { class: 'hex' }, piece) : piece, element('wbr')]
}
