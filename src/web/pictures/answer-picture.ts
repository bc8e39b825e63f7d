/** Answers with the picture of a link. */
import type { Context } from 'elysia'
import { isKnown } from '../http/etag.ts'
import type { Pictures } from './pictures.ts'

/**
 * The PNG of an SVG, or 304 to who has it; nothing is drawn for a 304. Caches ask again each time,
 * because what is shown may be made private. Decide before whether the caller may see it.
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
