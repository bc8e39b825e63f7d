/** Words for the entries of the audit log. */
import type { Json } from '../../../kernel/canonical.ts'
import { amountText } from '../../../web/ui/amount.tsx'
import { shortHash } from '../../../web/ui/hash.tsx'

/** By the name of an action as it is stored. */
export const auditWords: ReadonlyMap<string, string> = new Map([
  ['account.resume', 'Account resumed'],
  ['account.suspend', 'Account suspended'],
  ['alerts.change', 'Alerts changed'],
  ['anchor.now', 'Anchor asked for'],
  ['config.reload', 'Configuration reloaded'],
  ['deposit.assigned', 'Deposit assigned'],
  ['deposit.claimed', 'Deposit claimed'],
  ['grant', 'Credit granted'],
  ['key.change', 'Key changed'],
  ['key.create', 'Key created'],
  ['key.pause', 'Key paused'],
  ['key.resume', 'Key resumed'],
  ['key.revoke', 'Key revoked'],
  ['key.rotate', 'Key rotated'],
  ['ledger.audit', 'Ledger audited'],
  ['log.reopen', 'Log reopened'],
  ['member.invite', 'Member invited'],
  ['member.join', 'Member joined'],
  ['member.leave', 'Member left'],
  ['member.remove', 'Member removed'],
  ['member.rename', 'Member named'],
  ['member.uninvite', 'Invitation withdrawn'],
  ['operator.claim', 'First operator appointed'],
  ['operator_token.create', 'Operator token created'],
  ['operator_token.revoke', 'Operator token revoked'],
  ['operator_token.rotate', 'Operator token rotated'],
  ['operator_token.use', 'Operator API called'],
  ['passport.bind', 'Key bound to a passport'],
  ['passport.change', 'Passport changed'],
  ['passport.create', 'Passport created'],
  ['passport.hide', 'Passport hidden'],
  ['passport.publish', 'Passport published'],
  ['passport.retire', 'Passport retired'],
  ['passport.statement', 'Passport statement issued'],
  ['passport.unbind', 'Key unbound from a passport'],
  ['plan.cancel', 'Plan cancelled'],
  ['plan.end', 'Plan ended'],
  ['plan.lapse', 'Plan lapsed'],
  ['plan.renew', 'Plan renewed'],
  ['plan.resume', 'Plan resumed'],
  ['plan.subscribe', 'Plan subscribed'],
  ['receipt.erase', 'Texts of a receipt erased'],
  ['receipt.share', 'Receipt shared'],
  ['receipt.unshare', 'Receipt made private'],
  ['receipt.verify', 'Receipt verified'],
  ['refund', 'Refund'],
  ['retention.set', 'Retention changed'],
  ['session.act_for', 'Account switched'],
  ['session.revoke', 'Session ended'],
  ['session.revoke_others', 'Other sessions ended'],
  ['sign_in', 'Signed in'],
  ['sign_in.failed', 'Sign-in refused'],
  ['sign_out', 'Signed out'],
  ['model.change', 'Model changed'],
  ['upstream.change', 'Upstream changed'],
  ['provider.add', 'Provider added'],
  ['signer.revoke', 'Signer revoked'],
  ['signer.rotate', 'Signer rotated'],
  ['slot.arrive', 'Slot came from another shard'],
  ['slot.leave', 'Slot left for another shard'],
  ['voucher.create', 'Vouchers created'],
  ['voucher.redeem', 'Voucher redeemed'],
  ['voucher.revoke', 'Vouchers revoked'],
  ['webhook.change', 'Webhook changed'],
  ['webhook.create', 'Webhook created'],
  ['webhook.remove', 'Webhook removed'],
  ['webhook.resend', 'Webhook delivery sent again'],
  ['webhook.rotate', 'Webhook secret rotated'],
])

/** Returns an action in words; one of another release by its name. */
export const actionWords = (action: string): string =>
  auditWords.get(action) ??
  action.replaceAll(/[._]/g, ' ').replace(/^./, (first) => first.toUpperCase())

/** Returns the name of a detail as words: "overlap until". */
export const detailName = (name: string): string => name.replaceAll('_', ' ')

/**
 * Returns the value of a detail: amounts as dollars, hashes shortened, lists with commas, members
 * of an object by their names. Empty values are left out.
 */
export function detailText(name: string, value: Json): string {
  if (typeof value === 'string') return textOf(name, value)
  if (Array.isArray(value)) return value.map((one) => detailText(name, one)).join(', ')
  if (typeof value !== 'object' || value === null) return String(value ?? 'none')
  return Object.entries(value)
    .map(([part, one]) => [detailName(part), detailText(part, one)])
    .filter(([, text]) => text !== '')
    .map(([part, text]) => `${part} ${text}`)
    .join('; ')
}

function textOf(name: string, value: string): string {
  if (name.endsWith('_nusd') && /^-?\d+$/.test(value)) return amountText(BigInt(value))
  return /^(0x)?[0-9a-f]{64}$/.test(value) ? shortHash(value) : value
}
