/** Answers with a text of the reference: an ETag, 304, gzip. */
import type { Context } from 'elysia'
import { acceptsGzip } from '../../web/http/assets.ts'
import { isKnown } from '../../web/http/etag.ts'

/** Answers with the text, or with 304 to a client whose copy has the same ETag. */
export function answerText({ request, set }: TextRequest, text: string, contentType: string) {
  set.headers['content-type'] = contentType
  set.headers['vary'] = 'Accept-Encoding'
  if (isKnown(request, set, text)) return ''
  if (!acceptsGzip(request)) return text
  set.headers['content-encoding'] = 'gzip'
  return new Response(Bun.gzipSync(text))
}

type TextRequest = { request: Request; set: Context['set'] }
