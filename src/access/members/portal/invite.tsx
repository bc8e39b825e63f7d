/** Reads an invitation from JSON or from a form, and shows its link once. */
import type { Deps } from '../../../app/deps-port.ts'
import type { Acting } from '../../../kernel/acting.ts'
import { parseUsd } from '../../../kernel/money.ts'
import { Refusal, refuse } from '../../../kernel/refusal.ts'
import { capWindows } from '../../../ledger/window.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import type { Fields } from '../../../web/http/fields.ts'
import { type InviteWish, invite } from '../invite.ts'
import { toInvitationView } from '../member-view.ts'
import { inviteBody, inviteForm } from '../shapes.ts'
import { acceptPath, type InviteDraft, type MembersView, readMembers } from './member-list.tsx'

/** The invitation with its link. @throws Refusal as {@link invite} */
export async function inviteByProgram(deps: Deps, acting: Acting, sent: Fields) {
  const { row, token } = await invite(deps, acting, wishOf(sent))
  return { ...toInvitationView(row), link: linkOf(deps, token) }
}

/** The page with the link, or with the form as sent and its error. */
export async function inviteByPage(
  deps: Deps,
  acting: Acting,
  sent: Fields,
): Promise<{ view: MembersView; status: number }> {
  const draft = draftOf(sent)
  try {
    const { row, token } = await invite(deps, acting, wishOf(sent))
    const made = { link: linkOf(deps, token), role: row.role, expiresAt: row.expiresAt }
    return { view: { ...(await readMembers(deps, acting)), made }, status: 201 }
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal
    const view = { ...(await readMembers(deps, acting)), draft, refusal }
    return { view, status: refusal.status }
  }
}

const linkOf = ({ settings }: Deps, token: string): string =>
  `${settings.baseUrl}${acceptPath}?token=${token}`

/** @throws Refusal `invalid_request` with `param` */
function wishOf({ value, isForm }: Fields): InviteWish {
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
