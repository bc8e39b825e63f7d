/** `/`: the landing page. */
import { Elysia } from 'elysia'
import { readerAccount } from '../../access/accounts/needs-session.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { publicPage } from '../../web/ui/layout.tsx'
import { reply } from '../../web/ui/reply.ts'
import type { PublicDeps } from '../explorer/public-cache.ts'
import { newestReader } from './newest.ts'
import { LandingPage } from './pages/landing.tsx'

export const sitePages = (deps: PublicDeps, frame: Frame) => {
  const readNewest = newestReader(deps)
  return new Elysia({ name: 'site-pages' }).get('/', async ({ request, set }) => {
    const [reader, newest, stats] = await Promise.all([
      readerAccount(deps, request),
      readNewest(),
      deps.publicCache.stats('all'),
    ])
    const models = deps.catalogue.list().filter(({ status }) => status === 'live')
    const page = publicPage({
      frame,
      title: 'An AI gateway that leaves receipts',
      description:
        'A prepaid, OpenAI-compatible gateway to AI models. Every run is paid to the ' +
        'nano-dollar, can never overspend, and leaves a signed receipt that anyone can check.',
      here: '/',
      main: (
        <LandingPage
          view={{
            baseUrl: deps.settings.baseUrl,
            signer: deps.signer.address,
            model: models.find(({ kind }) => kind === 'chat')?.id ?? '',
            models,
            isSignedIn: 'account' in reader,
            takesDeposits: deps.depositPolicy !== undefined,
            isAnchored: deps.anchoring.chain !== undefined,
            newest,
            stats,
          }}
        />
      ),
      scripts: newest ? ['terminal', 'landing'] : ['terminal'],
      ...reader,
    })
    return reply({ request, set }, { page })
  })
}
