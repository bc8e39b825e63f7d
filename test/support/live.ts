import { type Browser, cookieHeader } from '../access/accounts/wallet.ts'
import type { World } from './world.ts'

export type LiveMessage = { id: string; html: string }

/** Follows a live part of a page as a signed-in browser does. Close it when done. */
export async function follow(
  w: World,
  own: Browser,
  path: string,
  headers: Record<string, string> = {},
) {
  const stop = new AbortController()
  const answer = await fetch(w.origin + path, {
    headers: { ...cookieHeader(own.jar), ...headers },
    signal: stop.signal,
  })
  const { body } = answer
  if (!body) throw new Error('the answer has no body')
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  return {
    answer,
    /** The next message; undefined at the end of the stream. */
    async next(): Promise<LiveMessage | undefined> {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end !== -1) {
          const frame = text.slice(0, end).split('\n')
          text = text.slice(end + 2)
          if (!frame.some((line) => line.startsWith('data: '))) continue
          return { id: fieldOf(frame, 'id'), html: fieldOf(frame, 'data') }
        }
        const { value } = await reader.read()
        if (value === undefined) return undefined
        text += decoder.decode(value)
      }
    },
    close: () => stop.abort(),
  }
}

const fieldOf = (frame: string[], name: string): string =>
  frame
    .filter((line) => line.startsWith(`${name}: `))
    .map((line) => line.slice(name.length + 2))
    .join('\n')
