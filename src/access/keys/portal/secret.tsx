/** The page of a new secret of a key. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import type { SessionRow } from '../../../storage/db/schema/schema.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import { dashboardPage, type Page } from '../../../web/ui/layout.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { PageHead } from '../../../web/ui/panel.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { sessionAuth } from '../../accounts/needs-session.ts'
import { findOwnedKey } from '../owns.ts'
import type { ShownKey } from '../shown-key.ts'
import { passSecret, takeSecret } from './brief-secret.tsx'
import { type MintedKey, toReveal } from './create-key.ts'
import { KeyTitle, Path } from './key-detail.tsx'
import { keyPath, keysPath } from './key-state.tsx'
import { Reveal, type RevealView } from './reveal.tsx'

export const secretPath = (id: string): string => `${keyPath(id)}/secret`

type Context = ReplyContext & { acting: Actor; session: Pick<SessionRow, 'id'> }

/** The page that shows a new secret once; a reload says that it was shown. */
export const secretPage = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'key-secret' }).use(sessionAuth(deps)).get(
    `${keysPath}/:id/secret`,
    async ({ params, request, set, acting, session }) => {
      const key = await findOwnedKey(deps, acting, params.id)
      const place = { id: key.id, path: secretPath(key.id) }
      const sent = takeSecret(deps, { request, set, session }, place)
      const shown = await deps.keys.show(key.id, deps.clock.now())
      const reveal = sent && (await toReveal(deps, { key, secret: sent.secret }, sent.by))
      return reply({ request, set }, { page: pageOf(frame, acting, shown, reveal) })
    },
    { needsSession: { page: 'keys:write' } },
  )

type SecretView = { made: MintedKey; by: RevealView['by']; status: number }

/** Answers with a new secret, as {@link passSecret} does. */
export function showSecret(
  deps: Deps,
  frame: Frame,
  context: Context,
  { made, by, status }: SecretView,
) {
  const { id } = made.key
  const sent = { secret: made.secret, by }
  return passSecret(deps, context, { id, path: secretPath(id), sent, status }, async () => {
    const shown = await deps.keys.show(id, deps.clock.now())
    return pageOf(frame, context.acting, shown, await toReveal(deps, made, by))
  })
}

function pageOf(
  frame: Frame,
  acting: Actor,
  { key, chain }: ShownKey,
  reveal: RevealView | undefined,
): Page {
  const main = (
    <>
      <Path chain={chain} />
      <PageHead title={<KeyTitle of={key} />} />
      {reveal ? <Reveal view={reveal} /> : <WasShown id={key.id} isOver={key.revokedAt !== null} />}
    </>
  )
  return dashboardPage({
    frame,
    title: 'New secret',
    here: keysPath,
    acting,
    main,
    scripts: ['hx-sse'],
  })
}

const WasShown = ({ id, isOver }: { id: string; isOver: boolean }) => (
  <>
    <Notice tone="warn" title="The secret was shown.">
      It is shown once and is not stored. {isOver ? null : 'If you do not have it, rotate the key.'}
    </Notice>
    <div class="row">
      <ButtonLink href={keyPath(id)} look="go">
        Go to the key
      </ButtonLink>
      {isOver ? null : <ButtonLink href={`${keyPath(id)}/rotate`}>Rotate…</ButtonLink>}
    </div>
  </>
)
