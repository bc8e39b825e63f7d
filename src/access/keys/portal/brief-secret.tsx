/** Passes a new secret, sealed in a cookie, from an action to the page that shows it once. */
import type { Deps } from '../../../app/deps-port.ts'
import type { Millis } from '../../../kernel/clock.ts'
import type { SessionRow } from '../../../storage/db/schema/schema.ts'
import { addCookie, deleteBrief, readCookie, writeBrief } from '../../../web/http/cookies.ts'
import { type Page, shownAt } from '../../../web/ui/layout.tsx'
import { navigates, pushAddress, type ReplyContext, reply } from '../../../web/ui/reply.ts'

/** How long a sealed secret can be shown on its page, in s. */
const maxAgeS = 60

export type BriefSecret = { secret: string; by: 'create' | 'rotate' }
type SealerDeps = Pick<Deps, 'sealer' | 'clock'>
type Needs = SealerDeps & Pick<Deps, 'settings'>
type Context = ReplyContext & { session: Pick<SessionRow, 'id'> }
type Place = { session: string; id: string }

/** The key or webhook of a secret, and the path of its page. */
type SecretPlace = { id: string; path: string }

/** Takes the secret of a page out of its cookie; undefined if there is none, as after a reload. */
export function takeSecret(
  deps: Needs,
  { request, set, session }: Context,
  { id, path }: SecretPlace,
): BriefSecret | undefined {
  const { baseUrl } = deps.settings
  const sealed = readCookie(request.headers, 'secret', baseUrl)
  if (sealed === undefined) return undefined
  addCookie(set.headers, deleteBrief('secret', { baseUrl, path }))
  return openSecret(deps, { session: session.id, id }, sealed)
}

/**
 * Redirects a browser to the page of a secret, with the secret in a cookie for that page alone;
 * answers other clients with the page at once.
 */
export async function passSecret(
  deps: Needs,
  context: Context,
  { id, path, sent, status }: SecretPlace & { sent: BriefSecret; status: number },
  makePage: () => Page | Promise<Page>,
) {
  const { request, set, session } = context
  if (navigates(request)) {
    const { baseUrl } = deps.settings
    const sealed = sealSecret(deps, { session: session.id, id }, sent)
    addCookie(set.headers, writeBrief('secret', sealed, { baseUrl, path, maxAgeS }))
    return reply(context, { fragment: <></>, seeOther: path })
  }
  const page = await makePage()
  pushAddress(context, path)
  return reply(context, { page: shownAt(page, path), status })
}

/** Binds the sealed secret to this session and this key or webhook. */
const placeOf = ({ session, id }: Place): string => `secret of ${id} for ${session}`

/** Seals a secret for the page of its key or webhook. */
export function sealSecret(
  { sealer, clock }: SealerDeps,
  place: Place,
  { by, secret }: BriefSecret,
): string {
  const text = JSON.stringify([clock.now(), by, secret])
  return Buffer.from(sealer.seal(text, placeOf(place))).toString('base64url')
}

/** Opens it; undefined for another session or key, after a minute, and for any other text. */
export function openSecret(
  { sealer, clock }: SealerDeps,
  place: Place,
  sealed: string,
): BriefSecret | undefined {
  const text = sealer.open(Buffer.from(sealed, 'base64url'), placeOf(place))
  if (text === undefined) return undefined
  const [at, by, secret] = JSON.parse(text) as [Millis, BriefSecret['by'], string]
  return clock.now() - at <= maxAgeS * 1000 ? { by, secret } : undefined
}
