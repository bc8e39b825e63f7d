/** The operator's routes that add a provider: choose it, test its key, confirm the change. */
import { Elysia } from 'elysia'
import { wantsJson } from '../../../access/accounts/needs-session.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { ProviderDesk } from '../../../app/providers/desk-port.ts'
import type { ReloadResult } from '../../../app/reload-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { Refusal, refuse } from '../../../kernel/refusal.ts'
import { findProvider } from '../../../models/providers/presets.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { type Draft, draftOf, readFields } from '../../../web/http/fields.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { shownAt } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { adminAuth } from '../needs-admin.ts'
import { noteAction } from '../note.ts'
import { openDraft, sealDraft } from '../provider-draft.ts'
import { readProviderWish, type SentWish } from '../provider-wish.ts'
import { confirmProviderBody, providerBody } from '../shapes.ts'
import { adminPage, paths } from './admin-frame.tsx'
import { bodyBytes, show, trimmed } from './answer.tsx'
import {
  addPath,
  type Proposed,
  ProviderForm,
  ProviderList,
  ReviewPage,
} from './provider-pages.tsx'
import { setupPath } from './setup-pages.tsx'

/** A change of many models is long. */
const draftBytes = 512 * 1024

const api = '/api/portal/admin/providers'
const here = { title: 'Add a provider', tab: paths.models }

/** @param noteReload keeps the result of the reload for the page of models */
export const adminProvidersPortal = (
  deps: Deps,
  frame: Frame,
  noteReload: (result: ReloadResult) => void,
) =>
  new Elysia({ name: 'admin-providers-portal' })
    .use(adminAuth(deps))
    .get(
      addPath,
      ({ request, set, acting }) => {
        const added = new Set(deps.upstreams.list().map(({ id }) => id))
        const main = <ProviderList added={added} canAdd={deps.providers.desk !== undefined} />
        return show(frame, { request, set, acting }, { ...here, main })
      },
      { needsAdmin: 'page' },
    )
    .get(
      `${addPath}/:provider`,
      ({ params, request, set, acting }) => {
        const provider = findProvider(params.provider) ?? refuse('not_found', 'No such provider.')
        const main = <ProviderForm of={provider} sent={{ draft: {} }} />
        return show(frame, { request, set, acting }, { ...titled(provider.name), main })
      },
      { needsAdmin: 'page' },
    )
    .post(
      api,
      async ({ request, set, account, acting }) => {
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const context = { request, set, acting }
        const typed = trimmed(value)
        if (wantsJson(request)) return toProposalView(await propose(deps, account, typed))
        const { key: _, ...draft } = draftOf(value)
        try {
          return review(frame, context, await propose(deps, account, typed))
        } catch (refusal) {
          if (!(refusal instanceof Refusal) || refusal.type !== 'invalid_request') throw refusal
          return formAgain(frame, context, { draft, refusal })
        }
      },
      { needsAdmin: 'action', parse: 'none' },
    )
    .post(
      `${api}/confirm`,
      async ({ request, set, account: actor }) => {
        const { value } = await readFields(request, { limitBytes: draftBytes })
        const { draft: sealed } = checkBody(confirmProviderBody, value)
        const desk = deskOf(deps)
        const draft = openDraft(deps, { kind: 'provider', account: actor }, sealed)
        const result = await desk.write(draft)
        noteReload(result)
        const { upstream, provider, models } = draft
        const detail = {
          provider,
          models: models.slice(0, 100),
          count: models.length,
          ...('problems' in result && { refused: result.problems.length }),
        }
        await noteAction(deps, { actor, action: 'provider.add', subject: upstream, detail })
        if (wantsJson(request)) return { object: 'provider', upstream, models, reload: result }
        if (await isNewcomer(deps, actor, result)) {
          return reply({ request, set }, { fragment: <></>, seeOther: setupPath })
        }
        const done = { what: 'provider_added' } as const
        return reply({ request, set }, { fragment: <></>, seeOther: paths.models, done })
      },
      { needsAdmin: 'action', parse: 'none' },
    )

/** Without a run yet an operator goes on with the set-up, unless the reload has more to say. */
async function isNewcomer({ runs }: Deps, account: string, result: ReloadResult): Promise<boolean> {
  if ('problems' in result || result.restart.length > 0) return false
  const { items } = await runs.listShown({ account }, {}, { limit: 1, after: undefined })
  return items.length === 0
}

const titled = (name: string) => ({ ...here, title: `Add ${name}` })

const deskOf = ({ providers }: Deps): ProviderDesk =>
  providers.desk ?? refuse('conflict', 'This server cannot change its configuration.')

async function propose(deps: Deps, account: string, typed: unknown): Promise<Proposed> {
  const sent: SentWish = checkBody(providerBody, typed)
  const desk = deskOf(deps)
  const wish = readProviderWish(sent)
  const proposal = await desk.propose(wish)
  const sealed = sealDraft(deps, { kind: 'provider', account }, proposal.draft)
  return { proposal, sealed, provider: wish.provider }
}

type Context = ReplyContext & { acting: Actor }

function review(frame: Frame, { request, set, acting }: Context, proposed: Proposed) {
  const { provider } = proposed
  const children = <ReviewPage of={proposed} />
  const page = adminPage({ frame, acting, ...titled(provider.name), children })
  return reply({ request, set }, { page: shownAt(page, `${addPath}/${provider.id}`) })
}

/** The form as it was sent, without the key. */
function formAgain(
  frame: Frame,
  { request, set, acting }: Context,
  sent: { draft: Draft; refusal: Refusal },
) {
  const provider = findProvider(sent.draft['provider'] ?? '')
  if (!provider) throw sent.refusal
  const children = <ProviderForm of={provider} sent={sent} />
  const page = adminPage({ frame, acting, ...titled(provider.name), children })
  const { status } = sent.refusal
  return reply({ request, set }, { page: shownAt(page, `${addPath}/${provider.id}`), status })
}

const toProposalView = ({ proposal, sealed }: Proposed) => ({
  object: 'provider_proposal' as const,
  upstream: proposal.draft.upstream,
  models: proposal.models,
  notes: proposal.notes,
  path: proposal.path,
  addition: proposal.draft.addition,
  writable: proposal.isWritable,
  others: proposal.others ?? null,
  draft: sealed,
})
