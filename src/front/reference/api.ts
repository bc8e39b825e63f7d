/** GET /openapi.json and GET /llms.txt. */
import { type Context, Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { acceptsGzip } from '../../web/http/assets.ts'
import { isKnown } from '../../web/http/etag.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { openApiOf } from './document.ts'
import { llmsOf } from './llms.ts'

/** `/openapi.json`, the whole API for programs, and `/llms.txt`, the start of it for agents. */
export const docsApi = ({ settings, version }: Pick<Deps, 'settings' | 'version'>) => {
  const document = once((baseUrl) =>
    JSON.stringify(openApiOf({ baseUrl, version: version.version })),
  )
  const short = once((baseUrl) => llmsOf({ baseUrl }))
  return new Elysia({ name: 'docs-api' })
    .get(
      '/openapi.json',
      ({ request, set }) =>
        answerText({ request, set }, document(settings.baseUrl), 'application/json; charset=utf-8'),
      openToAnyOrigin,
    )
    .get(
      '/llms.txt',
      ({ request, set }) =>
        answerText({ request, set }, short(settings.baseUrl), 'text/plain; charset=utf-8'),
      openToAnyOrigin,
    )
}

/** A text that follows from the base URL: made when first asked for, and kept. */
function once(make: (baseUrl: string) => string): (baseUrl: string) => string {
  let made: { baseUrl: string; text: string } | undefined
  return (baseUrl) => {
    if (made?.baseUrl !== baseUrl) made = { baseUrl, text: make(baseUrl) }
    return made.text
  }
}

function answerText({ request, set }: Asked, text: string, contentType: string) {
  set.headers['content-type'] = contentType
  set.headers['vary'] = 'Accept-Encoding'
  if (isKnown(request, set, text)) return ''
  if (!acceptsGzip(request)) return text
  set.headers['content-encoding'] = 'gzip'
  return new Response(Bun.gzipSync(text))
}

type Asked = { request: Request; set: Context['set'] }
