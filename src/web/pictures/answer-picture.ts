/** Answers with a link picture. */
import type { Context } from 'elysia'
import { isKnown } from '../http/etag.ts'
import type { Pictures } from './pictures.ts'

/**
 * Answers with the PNG of an SVG, or with 304, which draws nothing. Caches revalidate each time,
 * because the subject may become private. Check first whether the caller may see it.
 */
export async function answerPicture(
  pictures: Pictures,
  { request, set }: { request: Request; set: Context['set'] },
  svg: string,
): Promise<Response | ''> {
  if (isKnown(request, set, svg)) return ''
  const png = await pictures.png(svg)
  set.headers['content-type'] = 'image/png'
  // Other sites embed the picture from this address.
  set.headers['cross-origin-resource-policy'] = 'cross-origin'
  return new Response(png)
}
