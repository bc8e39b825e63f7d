/** Answers with an ETag, or 304. */
import type { Context } from 'elysia'
import { sha256Hex } from '../../kernel/hash.ts'

/** Answers with JSON that is revalidated each time: 304 if the client has it. Authorise before. */
export function answerFresh<T extends object>(
  request: Request,
  set: Context['set'],
  value: T,
): T | undefined {
  return isKnown(request, set, JSON.stringify(value)) ? undefined : value
}

/** Writes the headers of such an answer; whether the caller has it already and gets a 304. */
export function isKnown(request: Request, set: Context['set'], text: string): boolean {
  const etag = `"${sha256Hex(text).slice(0, 32)}"`
  set.headers['etag'] = etag
  set.headers['cache-control'] = 'no-cache'
  if (!names(request.headers.get('if-none-match'), etag)) return false
  set.status = 304
  return true
}

/** Answers with bytes that stay at their address for ever, or 304 to who has them. */
export function answerBytes(
  request: Request,
  set: Context['set'],
  bytes: Uint8Array,
): Response | '' {
  const etag = `"${sha256Hex(bytes).slice(0, 32)}"`
  set.headers['etag'] = etag
  set.headers['cache-control'] = 'public, max-age=31536000, immutable'
  if (names(request.headers.get('if-none-match'), etag)) {
    set.status = 304
    return ''
  }
  set.headers['content-type'] = 'application/octet-stream'
  return new Response(new Uint8Array(bytes))
}

/** Whether `If-None-Match` names the tag, weakly compared (RFC 9110 §13.1.2). */
function names(header: string | null, etag: string): boolean {
  if (header === null) return false
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
