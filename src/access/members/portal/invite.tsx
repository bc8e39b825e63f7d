/** Reads an invitation from JSON or from a form, and shows its link once. */
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { parseUsd } from '../../../kernel/money.ts'
import { Refusal, refuse } from '../../../kernel/refusal.ts'
import { capWindows } from '../../../ledger/window.ts'
import type { SessionRow } from '../../../storage/db/schema/schema.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import type { Fields } from '../../../web/http/fields.ts'
import type { Page } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { passSecret, takeSecret } from '../../keys/portal/brief-secret.tsx'
import { type InviteRequest, invite } from '../invite.ts'
import { toInvitationView } from '../member-view.ts'
import { inviteBody, inviteForm } from '../shapes.ts'
import {
  acceptPath,
  type InviteDraft,
  type MembersView,
  membersPath,
  readMembers,
} from './member-list.tsx'

/** The invitation with its link. @throws Refusal as {@link invite} */
export async function inviteByProgram(deps: Deps, acting: Actor, sent: Fields) {
  const { row, token } = await invite(deps, acting, wishOf(sent))
  return { ...toInvitationView(row), link: linkOf(deps, token) }
}

type MemberContext = ReplyContext & { acting: Actor; session: Pick<SessionRow, 'id'> }
type PageOf = (view: MembersView) => Page

/** The page with the link, by {@link passSecret}, or with the form as sent and its error. */
export async function inviteByPage(
  deps: Deps,
  context: MemberContext,
  sent: Fields,
  pageOf: PageOf,
) {
  const { acting } = context
  try {
    const { row, token } = await invite(deps, acting, wishOf(sent))
    const secret = `${row.id} ${token}`
    const place = { ...placeOf(acting), sent: { secret, by: 'create' as const }, status: 201 }
    return await passSecret(deps, context, place, async () =>
      pageOf(withLink(deps, await readMembers(deps, acting), secret)),
    )
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal
    const view = { ...(await readMembers(deps, acting)), draft: draftOf(sent), refusal }
    return reply(context, { page: pageOf(view), status: refusal.status })
  }
}

/** The members, with the link of an invitation that was just made. A reload has none. */
export async function readWithLink(deps: Deps, context: MemberContext): Promise<MembersView> {
  const { acting } = context
  const taken = takeSecret(deps, context, placeOf(acting))
  const view = await readMembers(deps, acting)
  return taken ? withLink(deps, view, taken.secret) : view
}

function withLink(deps: Deps, view: MembersView, secret: string): MembersView {
  const [id, token = ''] = secret.split(' ')
  const row = view.invitations.find((one) => one.id === id)
  if (!row) return view
  return { ...view, made: { link: linkOf(deps, token), role: row.role, expiresAt: row.expiresAt } }
}

const placeOf = ({ account }: Actor) => ({ id: `an invitation to ${account}`, path: membersPath })

const linkOf = ({ settings }: Deps, token: string): string =>
  `${settings.baseUrl}${acceptPath}?token=${token}`

/** @throws Refusal `invalid_request` with `param` */
function wishOf({ value, isForm }: Fields): InviteRequest {
  if (!isForm) {
    const { role, cap, models } = checkBody(inviteBody, value)
    const limits = cap && { limit: BigInt(cap.limit_nusd), window: cap.window ?? 'lifetime' }
    return { role, cap: limits, models }
  }
  const { role, cap = '', window = '', models = '' } = checkBody(inviteForm, value)
  // The form has the fields of a branch for every role; only a developer uses them.
  if (role !== 'developer') return { role }
  const limit = parseUsd(cap.trim().replace(/^\$/, ''))
  if (limit === undefined || limit === 0n) {
    const message = 'Enter the cap in dollars, above 0, such as 5.00.'
    return refuse('invalid_request', { param: 'cap', message })
  }
  const named = capWindows.find((one) => one === (window || 'lifetime'))
  if (!named) {
    const message = `Choose one of: ${capWindows.join(', ')}.`
    return refuse('invalid_request', { param: 'window', message })
  }
  const globs = models.split(/[\s,]+/).filter(Boolean)
  return { role, cap: { limit, window: named }, models: globs }
}

function draftOf({ value }: Fields): InviteDraft {
  const texts = Object.entries(Object(value)).filter(([, text]) => typeof text === 'string')
  return Object.fromEntries(texts) as InviteDraft
}
