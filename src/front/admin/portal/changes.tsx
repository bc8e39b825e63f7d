/** The operator's routes that change a model or an upstream: its form, the change, and a test. */
import { Elysia } from 'elysia'
import type { ChangeDesk, ChangeWish } from '../../../app/changes/changes-port.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { ReloadResult } from '../../../app/reload-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { Refusal, refuse } from '../../../kernel/refusal.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { type Draft, draftOf, readFields } from '../../../web/http/fields.ts'
import { queryOf, readText } from '../../../web/http/query.ts'
import type { SentForm } from '../../../web/ui/form.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import { shownAt } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { readChangeWish } from '../change-wish.ts'
import { adminAuth } from '../needs-admin.ts'
import { noteAction } from '../note.ts'
import { openDraft, sealDraft } from '../provider-draft.ts'
import { confirmProviderBody } from '../shapes.ts'
import { adminPage, paths } from './admin-frame.tsx'
import { bodyBytes, trimmed } from './answer.tsx'
import {
  type ChangeKind,
  ChangeReview,
  changePath,
  ModelForm,
  NotWritten,
  TestResult,
  UpstreamForm,
} from './change-pages.tsx'

type Context = ReplyContext & { acting: Actor }
type NoteReload = (result: ReloadResult) => void

/** @param noteReload keeps the result of the reload for the page of models */
export const adminChangesPortal = (deps: Deps, frame: Frame, noteReload: NoteReload) =>
  new Elysia({ name: 'admin-changes-portal' })
    .use(changeRoutes(deps, frame, 'model', noteReload))
    .use(changeRoutes(deps, frame, 'upstream', noteReload))
    .use(adminAuth(deps))
    .post(
      `${paths.models}/upstream/test`,
      async ({ request, set, acting }) => {
        const id = idIn(await readForm(request))
        const main = <TestResult id={id} of={await deskOf(deps).test(id)} />
        return show(frame, { request, set, acting }, { kind: 'upstream', id, main })
      },
      { needsAdmin: 'action', parse: 'none' },
    )

const changeRoutes = (deps: Deps, frame: Frame, kind: ChangeKind, noteReload: NoteReload) =>
  new Elysia({ name: `admin-change-${kind}` })
    .use(adminAuth(deps))
    .get(
      `${paths.models}/${kind}`,
      ({ request, set, acting }) => {
        const id = readText(queryOf(request), 'id') ?? refuse('not_found')
        const main = formOf(deps, kind, id, { draft: {} })
        return show(frame, { request, set, acting }, { kind, id, main })
      },
      { needsAdmin: 'page' },
    )
    .post(
      `${paths.models}/${kind}`,
      async ({ request, set, account, acting }) => {
        const sent = await readForm(request)
        const id = idIn(sent)
        const context = { request, set, acting }
        try {
          const proposal = deskOf(deps).propose(wishOf(deps, kind, sent))
          const sealed = sealDraft(deps, { kind: 'change', account }, proposal.draft)
          const main = <ChangeReview kind={kind} proposal={proposal} sealed={sealed} />
          return show(frame, context, { kind, id, main })
        } catch (refusal) {
          if (!(refusal instanceof Refusal) || refusal.type === 'not_found') throw refusal
          const { key: _, ...draft } = sent
          const main = formOf(deps, kind, id, { draft, refusal })
          return show(frame, context, { kind, id, main, status: refusal.status })
        }
      },
      { needsAdmin: 'action', parse: 'none' },
    )
    .post(
      `${paths.models}/${kind}/confirm`,
      async ({ request, set, account: actor }) => {
        const { draft: sealed } = checkBody(confirmProviderBody, await readForm(request))
        const draft = openDraft(deps, { kind: 'change', account: actor }, sealed)
        const result = await deskOf(deps).write(draft)
        noteReload(result)
        const { id, status } = draft.wish
        const detail = {
          status,
          key: draft.key === undefined ? 'kept' : 'replaced',
          file: draft.after,
          ...('problems' in result && { refused: result.problems.length }),
        }
        const action = draft.wish.kind === 'model' ? 'model.change' : 'upstream.change'
        await noteAction(deps, { actor, action, subject: id, detail })
        const done = { what: 'configuration_changed' } as const
        return reply({ request, set }, { fragment: <></>, seeOther: paths.models, done })
      },
      { needsAdmin: 'action', parse: 'none' },
    )

const deskOf = ({ changes }: Deps): ChangeDesk =>
  changes.desk ?? refuse('conflict', 'This server cannot change its configuration.')

async function readForm(request: Request): Promise<Draft> {
  const { value } = await readFields(request, { limitBytes: bodyBytes * 2 })
  return draftOf(trimmed(value) as Parameters<typeof draftOf>[0])
}

const idIn = (sent: Draft): string => sent['id'] || refuse('not_found')

function wishOf(deps: Deps, kind: ChangeKind, sent: Draft): ChangeWish {
  const id = idIn(sent)
  if (kind === 'upstream') return readChangeWish(sent, undefined)
  return readChangeWish(sent, deskOf(deps).model(id) ?? refuse('not_found'))
}

function formOf({ changes: { desk } }: Deps, kind: ChangeKind, id: string, sent: SentForm): Markup {
  if (kind === 'model') {
    const model = desk?.model(id)
    return model ? <ModelForm id={id} of={model} sent={sent} /> : <NotWritten kind={kind} />
  }
  const upstream = desk?.upstream(id)
  return upstream ? <UpstreamForm id={id} of={upstream} sent={sent} /> : <NotWritten kind={kind} />
}

type ChangePage = { kind: ChangeKind; id: string; main: Markup; status?: number }

function show(
  frame: Frame,
  { request, set, acting }: Context,
  { kind, id, main, status = 200 }: ChangePage,
) {
  const titled = { title: id, tab: paths.models, children: main }
  const page = adminPage({ frame, acting, ...titled })
  return reply({ request, set }, { page: shownAt(page, changePath(kind, id)), status })
}
