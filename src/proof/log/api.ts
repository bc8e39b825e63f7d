/** `/log/…`: the checkpoint and the tiles of the log, in the form of tiled logs. */
import { type Context, Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { answerBytes, isKnown } from '../../web/http/etag.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { pathStart } from '../../web/http/paths.ts'
import { findPrefixed } from './logs.ts'
import { publishedNote } from './notes.ts'
import { tileAt } from './tiles.ts'

/** `GET /log/checkpoint`, `/log/tile/<L>/<N>[.p/<W>]`, `/log/tile/entries/<N>[.p/<W>]`. */
export const logApi = (deps: Deps) =>
  new Elysia({ name: 'log-api' }).get(
    '/log/*',
    ({ request, set }) => answer(deps, request, set),
    openToAnyOrigin,
  )

type PendingAnswer = Promise<string | Response>

async function answer(deps: Deps, request: Request, set: Context['set']): PendingAnswer {
  const path = request.url.slice(pathStart(request.url)).split(/[?#]/, 1)[0] ?? ''
  const { log, rest } = findPrefixed(deps.logs, path) ?? refuse('not_found')
  if (rest === 'checkpoint') {
    const note = await publishedNote(deps, log)
    if (isKnown(request, set, note)) return ''
    set.headers['content-type'] = 'text/plain; charset=utf-8'
    return note
  }
  const bytes = await tileAt(deps, log, rest)
  if (!bytes) {
    const message = 'The log has no such tile under its latest checkpoint: GET /log/checkpoint.'
    refuse('not_found', { message })
  }
  return answerBytes(request, set, bytes)
}
