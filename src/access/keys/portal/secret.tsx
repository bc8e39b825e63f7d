/** The page of a new secret, and the sealed cookie that brings the secret there. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import type { Acting } from '../../../kernel/acting.ts'
import type { Millis } from '../../../kernel/clock.ts'
import type { SessionRow } from '../../../storage/db/schema.ts'
import { addCookie, deleteBrief, readCookie, writeBrief } from '../../../web/http/cookies.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import { dashboardPage, type Page } from '../../../web/ui/layout.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { PageHead } from '../../../web/ui/panel.tsx'
import { navigates, pushAddress, type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { sessionAuth } from '../../accounts/needs-session.ts'
import { findOwnedKey } from '../owns.ts'
import type { ShownKey } from '../shown-key.ts'
import { type Made, toReveal } from './create-key.ts'
import { KeyTitle, Path } from './key-detail.tsx'
import { keyPath, keysPath } from './key-state.tsx'
import { Reveal, type RevealView } from './reveal.tsx'

/** Seconds that a secret has to come to its page. */
const maxAgeS = 60

export const secretPath = (id: string): string => `${keyPath(id)}/secret`

type Context = ReplyContext & { acting: Acting; session: Pick<SessionRow, 'id'> }

/** The page that shows a new secret once; asked again it says that it was shown. */
export const secretPage = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'key-secret' }).use(sessionAuth(deps)).get(
    `${keysPath}/:id/secret`,
    async ({ params, request, set, acting, session }) => {
      const key = await findOwnedKey(deps, acting, params.id)
      const { baseUrl } = deps.settings
      const path = secretPath(key.id)
      const sealed = readCookie(request.headers, 'secret', baseUrl)
      const place = { session: session.id, id: key.id }
      const sent = sealed === undefined ? undefined : openSecret(deps, place, sealed)
      if (sealed !== undefined) addCookie(set.headers, deleteBrief('secret', { baseUrl, path }))
      const shown = await deps.keys.show(key.id, deps.clock.now())
      const reveal = sent && (await toReveal(deps, { key, secret: sent.secret }, sent.by))
      return reply({ request, set }, { page: pageOf(frame, acting, shown, reveal) })
    },
    { needsSession: { page: 'keys:write' } },
  )

type Shown = { made: Made; by: RevealView['by']; status: number }

/**
 * Answers with a new secret. A browser is sent to its page, with the secret in a cookie for that
 * page alone; other clients get the page at once.
 */
export async function showSecret(
  deps: Deps,
  frame: Frame,
  context: Context,
  { made, by, status }: Shown,
) {
  const { request, set, acting, session } = context
  const path = secretPath(made.key.id)
  if (navigates(request)) {
    const { baseUrl } = deps.settings
    const place = { session: session.id, id: made.key.id }
    const sealed = sealSecret(deps, place, { secret: made.secret, by })
    addCookie(set.headers, writeBrief('secret', sealed, { baseUrl, path, maxAgeS }))
    return reply(context, { fragment: <></>, seeOther: path })
  }
  const shown = await deps.keys.show(made.key.id, deps.clock.now())
  const page = pageOf(frame, acting, shown, await toReveal(deps, made, by))
  pushAddress(context, path)
  const html: Page['html'] = (reader) => page.html({ ...reader, path })
  return reply(context, { page: { ...page, html }, status })
}

function pageOf(
  frame: Frame,
  acting: Acting,
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
  return dashboardPage({ frame, title: 'New secret', here: keysPath, acting, main })
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

type Sent = { secret: string; by: RevealView['by'] }
type Sealing = Pick<Deps, 'sealer' | 'clock'>
type Place = { session: string; id: string }

/** Binds the sealed secret to this session and this key or webhook. */
const placeOf = ({ session, id }: Place): string => `secret of ${id} for ${session}`

/** Seals a secret for the page of its key or webhook. */
export function sealSecret({ sealer, clock }: Sealing, place: Place, { by, secret }: Sent): string {
  const text = JSON.stringify([clock.now(), by, secret])
  return Buffer.from(sealer.seal(text, placeOf(place))).toString('base64url')
}

/** Opens it; undefined for another session or key, after a minute, and for what was not sealed. */
export function openSecret(
  { sealer, clock }: Sealing,
  place: Place,
  sealed: string,
): Sent | undefined {
  const text = sealer.open(Buffer.from(sealed, 'base64url'), placeOf(place))
  if (text === undefined) return undefined
  const [at, by, secret] = JSON.parse(text) as [Millis, Sent['by'], string]
  return clock.now() - at <= maxAgeS * 1000 ? { by, secret } : undefined
}
