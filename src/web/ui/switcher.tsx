/** The account that a session acts for, and a form to switch to another one. */
import type { Actor, Membership, Role } from '../../kernel/acting.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { Address } from './address.tsx'
import { Icon } from './icon.tsx'

export const roleWords: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  developer: 'Developer',
  billing: 'Billing',
  viewer: 'Viewer',
}

/** The rights of each role, in a sentence. */
export const roleSentences: Readonly<Record<Role, string>> = {
  owner: 'does everything, invites members and keeps the settings',
  developer: 'makes keys below a cap of their own, runs models, sees those runs alone',
  billing: 'pays, chooses the plan and reads statements, sees no runs',
  viewer: 'sees everything and changes nothing',
}

type SwitcherProps = { acting: Actor; memberships: readonly Membership[] }

/** A plain form, so that it needs no script. Nothing for a wallet that is a member of nothing. */
export function Switcher({ acting, memberships }: SwitcherProps) {
  const { wallet, account } = acting
  if (memberships.length === 0 && wallet === account) return null
  const others = memberships.some((one) => one.account === account) || wallet === account
  const listed = others ? memberships : [{ account, role: acting.role }, ...memberships]
  return (
    <details>
      <summary>
        <Icon name="sessions" />
        <span class="lb">{wallet === account ? 'Your own account' : shortOf(account)}</span>
      </summary>
      <SwitchForm wallet={wallet} account={account} listed={listed} />
    </details>
  )
}

type FormProps = { wallet: string; account: string; listed: readonly Membership[] }

const SwitchForm = ({ wallet, account, listed }: FormProps) => (
  <form class="acts" method="post" action="/api/auth/account">
    <label for="acting">Account</label>
    <select class="in" id="acting" name="account">
      <option value={wallet} selected={wallet === account}>
        Your own
      </option>
      {listed.map((one) => (
        <option value={one.account} selected={one.account === account}>
          {shortOf(one.account)} · {roleWords[one.role]}
        </option>
      ))}
    </select>
    <button class="btn small" type="submit">
      Switch
    </button>
  </form>
)

function shortOf(account: string): string {
  const whole = toChecksumAddress(account)
  return `${whole.slice(0, 6)}…${whole.slice(-4)}`
}

/** Above each page of another account, which could be mistaken for the own one. */
export const ActingFor = ({ acting: { account, wallet, role } }: { acting: Actor }) =>
  account === wallet ? null : (
    <p class="acting">
      You act for <Address value={account} /> as {roleWords[role].toLowerCase()}.{' '}
      <a href="/dashboard/members">Membership</a>
    </p>
  )
