/** Sends HTML: the one place where text becomes a page that a browser renders. */
import { html } from '@elysiajs/html'
import { Elysia } from 'elysia'
import { acceptsGzip } from '../http/assets.ts'

/** HTML that {@link reply} made. A plain string that a door returns is sent as text. */
export class HtmlAnswer {
  constructor(readonly html: string) {}
}

/**
 * Answers with the {@link HtmlAnswer} of each door mounted after it, compressed for browsers that
 * take gzip. `autoDetect` stays off: it turns any string that begins with `<` into a page, even
 * text of people and models.
 */
export const htmlAnswers = () =>
  new Elysia({ name: 'html-answers' })
    .use(html({ autoDetect: false, autoDoctype: false, contentType: 'text/html; charset=utf-8' }))
    // Not `mapResponse`: Elysia takes its undefined for the body of an error.
    .onAfterHandle({ as: 'global' }, ({ responseValue, request, set, html }) => {
      if (!(responseValue instanceof HtmlAnswer)) return undefined
      // Of a string the plugin makes a Response; its type also names streams.
      if (!acceptsGzip(request)) return html(responseValue.html) as Response
      set.headers['content-encoding'] = 'gzip'
      return new Response(Bun.gzipSync(responseValue.html))
    })
