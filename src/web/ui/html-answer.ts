/** Sends HTML: the one place where text becomes a page that a browser renders. */
import { html } from '@elysiajs/html'
import { Elysia } from 'elysia'
import type { Actor } from '../../kernel/acting.ts'
import { acceptsGzip } from '../http/assets.ts'
import { timesIn } from './when.tsx'

/**
 * HTML that {@link reply} made; a plain string of a door is sent as text. It is drawn when
 * the door is done: what stands around a page then counts what the door changed.
 */
export class HtmlAnswer {
  constructor(readonly draw: () => string) {}
}

/** A twenty-fifth smaller than what zlib makes, in the same time. */
const packing = { library: 'libdeflate', level: 6 } as const

/** Counts again, for the rail; returns it as htmx puts it into the page around a fragment. */
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
      const hasChanged = isPart || request.method !== 'GET'
      const counts = hasChanged && acting ? await countsFor(acting) : ''
      const whole = responseValue.draw() + (isPart ? counts : '')
      const answer = acting?.zone === undefined ? whole : timesIn(acting.zone, whole)
      // Of a string the plugin makes a Response; its type also names streams.
      if (!acceptsGzip(request)) return html(answer) as Response
      set.headers['content-encoding'] = 'gzip'
      return new Response(Bun.gzipSync(answer, packing))
    })
