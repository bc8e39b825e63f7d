/** Sends HTML: the one place where text becomes a page that a browser renders. */
import { html } from '@elysiajs/html'
import { Elysia } from 'elysia'
import type { Actor } from '../../kernel/acting.ts'
import { acceptsGzip } from '../http/assets.ts'

/** HTML that {@link reply} made. A plain string that a door returns is sent as text. */
export class HtmlAnswer {
  constructor(readonly html: string) {}
}

/** The counts of the rail as htmx puts them into the page around a fragment. */
export type CountsFor = (acting: Actor) => Promise<string>

/**
 * Answers with the {@link HtmlAnswer} of each door mounted after it, compressed for browsers that
 * take gzip. `autoDetect` stays off: it turns any string that begins with `<` into a page, even
 * text of people and models.
 */
export const htmlAnswers = (countsFor: CountsFor = async () => '') =>
  new Elysia({ name: 'html-answers' })
    .use(html({ autoDetect: false, autoDoctype: false, contentType: 'text/html; charset=utf-8' }))
    // Not `mapResponse`: Elysia takes its undefined for the body of an error.
    .onAfterHandle({ as: 'global' }, async (context) => {
      const { responseValue, request, set, html } = context
      if (!(responseValue instanceof HtmlAnswer)) return undefined
      const { acting } = context as { acting?: Actor }
      const isPart = request.headers.get('hx-request') === 'true'
      const counts = isPart && acting ? await countsFor(acting) : ''
      const answer = responseValue.html + counts
      // Of a string the plugin makes a Response; its type also names streams.
      if (!acceptsGzip(request)) return html(answer) as Response
      set.headers['content-encoding'] = 'gzip'
      return new Response(Bun.gzipSync(answer))
    })
