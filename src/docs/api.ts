import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { acceptsGzip } from '../http/assets.ts'
import { isKnown } from '../http/etag.ts'
import { openToAnyOrigin } from '../http/methods.ts'
import { openApiOf } from './document.ts'

/** `/openapi.json`: the whole API for programs. It needs no key. */
export const docsApi = ({ settings, version }: Pick<Deps, 'settings' | 'version'>) => {
  const document = once((baseUrl) =>
    JSON.stringify(openApiOf({ baseUrl, version: version.version })),
  )
  return new Elysia({ name: 'docs-api' }).get(
    '/openapi.json',
    ({ request, set }) =>
      answerText({ request, set }, document(settings.baseUrl), 'application/json; charset=utf-8'),
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

type Asked = { request: Request; set: Parameters<typeof isKnown>[1] }
