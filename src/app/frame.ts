/** Page chrome: navigation, account and service status. */
import { accountCountMax } from '../access/accounts/account-counts.ts'
import { isAdmin } from '../front/admin/admin.ts'
import { chainId } from '../kernel/chain.ts'
import type { Frame, NavCounts, NavItem } from '../web/ui/frame.ts'
import type { Deps } from './deps-port.ts'

/** Appears where the service takes deposits. */
const depositsPath = '/dashboard/deposits'
const billingPath = '/dashboard/statement'
const settingsPath = '/dashboard/settings'
const runsPath = '/dashboard/runs'
const keysPath = '/dashboard/keys'

/**
 * Every page of the navigation, in its order; a new page adds its line here. The rail has ten
 * entries at most: what belongs to one of them stands `within` it.
 */
const nav: readonly NavItem[] = [
  { href: '/dashboard', label: 'Overview', icon: 'home', group: 'Use', right: 'overview:read' },
  {
    href: '/dashboard/console',
    label: 'Console',
    icon: 'console',
    group: 'Use',
    right: 'runs:write',
  },
  { href: runsPath, label: 'Runs', icon: 'runs', group: 'Use', right: 'runs:read' },
  { href: keysPath, label: 'Keys', icon: 'keys', group: 'Use', right: 'keys:read' },
  {
    href: '/dashboard/receipts',
    label: 'Receipts',
    icon: 'receipts',
    group: 'Account',
    right: 'receipts:read',
  },
  {
    href: '/dashboard/usage',
    label: 'Usage',
    icon: 'usage',
    group: 'Account',
    right: 'usage:read',
  },
  {
    href: billingPath,
    label: 'Billing',
    tab: 'Statement',
    icon: 'deposits',
    group: 'Account',
    right: 'statement:read',
  },
  {
    href: depositsPath,
    label: 'Deposits',
    group: 'Account',
    within: billingPath,
    right: 'deposits:read',
  },
  {
    href: '/dashboard/vouchers',
    label: 'Vouchers',
    group: 'Account',
    within: billingPath,
    right: 'deposits:write',
  },
  {
    href: '/dashboard/liabilities',
    label: 'Liabilities',
    group: 'Account',
    within: billingPath,
    right: 'statement:read',
  },
  {
    href: '/dashboard/plan',
    label: 'Plan',
    group: 'Account',
    within: billingPath,
    right: 'plans:read',
  },
  {
    href: '/dashboard/passports',
    label: 'Passport',
    icon: 'passport',
    group: 'Account',
    right: 'passports:read',
  },
  { href: settingsPath, label: 'Settings', icon: 'settings', group: 'Account' },
  { href: '/dashboard/members', label: 'Members', group: 'Account', within: settingsPath },
  {
    href: '/dashboard/webhooks',
    label: 'Webhooks',
    group: 'Account',
    within: settingsPath,
    right: 'webhooks:write',
  },
  { href: '/dashboard/sessions', label: 'Sessions', group: 'Account', within: settingsPath },
  { href: '/dashboard/admin', label: 'Administration', icon: 'models', group: 'Operator' },
  { href: '/explorer', label: 'Explorer', group: 'Public' },
  { href: '/models', label: 'Models', group: 'Public' },
  { href: '/plans', label: 'Plans', group: 'Public' },
  { href: '/passports', label: 'Passports', group: 'Public' },
  { href: '/terminal', label: 'Terminal', group: 'Public' },
  { href: '/verify', label: 'Verify', group: 'Public' },
  { href: '/docs', label: 'Docs', group: 'Public' },
]

/** The page chrome of this service. */
export const frameOf = ({
  signer,
  health,
  depositPolicy,
  settings,
  version,
  extent,
  demo,
}: Pick<
  Deps,
  'signer' | 'health' | 'depositPolicy' | 'settings' | 'version' | 'extent' | 'demo'
>): Frame => ({
  nav: nav.filter(({ href }) => depositPolicy !== undefined || href !== depositsPath),
  foot: () => ({
    signer: signer.address,
    chainId,
    status: statusText(health),
    isWell: !health.stopping && health.ledger === 'balanced',
    version: version.version,
  }),
  isAdmin: (wallet) => isAdmin(settings, wallet),
  counts: (acting): NavCounts => {
    const last = extent.last(acting)
    const counted: [string, number | undefined][] = [
      [runsPath, last?.runs],
      [keysPath, last?.keys],
    ]
    const known = counted.flatMap(([path, n]) => (n === undefined ? [] : [[path, countText(n)]]))
    return Object.fromEntries(known)
  },
  memberships: (acting) => extent.last(acting)?.memberships ?? [],
  baseUrl: () => settings.baseUrl,
  resetsAt: () => demo?.resetsAt,
})

/** More than are counted are that many and more. */
const countText = (count: number): string =>
  count < accountCountMax
    ? count.toLocaleString('en-US')
    : `${(accountCountMax - 1).toLocaleString('en-US')}+`

function statusText({ ledger, stopping }: Deps['health']): string {
  if (stopping) return 'Going down for a restart'
  if (ledger === 'checking') return 'Checking the books'
  return ledger === 'balanced' ? 'All systems normal' : 'The books do not balance'
}
