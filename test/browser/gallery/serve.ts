import { Elysia } from 'elysia'
import { ownerOf } from '../../../src/kernel/acting.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { assets } from '../../../src/web/http/assets.ts'
import { makeRoot } from '../../../src/web/http/root.ts'
import { serve } from '../../../src/web/http/serve.ts'
import { htmlAnswers } from '../../../src/web/ui/html-answer.ts'
import type { Markup } from '../../../src/web/ui/jsx-runtime.ts'
import { dashboardPage, type Page, publicPage } from '../../../src/web/ui/layout.tsx'
import { refusalPages } from '../../../src/web/ui/refusal.tsx'
import { reply } from '../../../src/web/ui/reply.ts'
import { themeRoute } from '../../../src/web/ui/theme.ts'
import { Console } from './console.tsx'
import { Keys } from './keys.tsx'
import { Overview } from './overview.tsx'
import { Explorer, Receipt, SignIn } from './public.tsx'
import { account, frame } from './samples.tsx'

const inside = (title: string, main: Markup): Page =>
  dashboardPage({ frame, title, here: `/${title.toLowerCase()}`, main, acting: ownerOf(account) })
const outside = (title: string, main: Markup): Page =>
  publicPage({ frame, title, here: `/${title.toLowerCase()}`, main })

/** Every part of the interface in its states, by page. */
export const gallery: Record<string, () => Page> = {
  '/overview': () => inside('Overview', Overview()),
  '/keys': () => inside('Keys', Keys()),
  '/console': () => inside('Console', Console()),
  '/receipt': () => outside('Receipt', Receipt()),
  '/explorer': () => outside('Explorer', Explorer()),
  '/signin': () => outside('Connect a wallet', SignIn()),
}

/** Serves the gallery on a loopback port. It is no part of the product. */
export function serveGallery() {
  const listen = { hostname: '127.0.0.1', port: 0 }
  const settings = { baseUrl: 'http://localhost' }
  const app = makeRoot({
    baseUrl: settings.baseUrl,
    listen,
    ids: makeIds(systemClock, systemRandom()),
    log: { error: console.error },
    showRefusal: refusalPages(frame),
  })
    .use(htmlAnswers())
    .use(assets())
    .use(themeRoute({ settings }))
  const pages = new Elysia()
  for (const [path, page] of Object.entries(gallery)) {
    pages.get(path, ({ request, set }) => reply({ request, set }, { page: page() }))
  }
  const server = serve(app.use(pages), listen)
  settings.baseUrl = `http://localhost:${server.port}`
  return { origin: settings.baseUrl, stop: () => server.stop(true) }
}
