/** What surrounds every page: navigation, account, state of the service. */
import { isAdmin } from '../front/admin/admin.ts'
import { chainId } from '../kernel/chain.ts'
import type { Frame, NavItem } from '../web/ui/frame.ts'
import type { Deps } from './deps-port.ts'

/** Appears where the service takes deposits. */
const depositsPath = '/dashboard/deposits'

/** Every page of the navigation, in its order; a new page adds its line here. */
const nav: readonly NavItem[] = [
  { href: '/dashboard', label: 'Overview', icon: 'home', group: 'Use' },
  { href: '/dashboard/console', label: 'Console', icon: 'console', group: 'Use' },
  { href: '/dashboard/runs', label: 'Runs', icon: 'runs', group: 'Use' },
  { href: '/dashboard/receipts', label: 'Receipts', icon: 'receipts', group: 'Use' },
  { href: '/dashboard/keys', label: 'Keys', icon: 'keys', group: 'Account' },
  { href: depositsPath, label: 'Deposits', icon: 'deposits', group: 'Account' },
  { href: '/dashboard/plan', label: 'Plan', icon: 'plan', group: 'Account' },
  { href: '/dashboard/statement', label: 'Statement', icon: 'docs', group: 'Account' },
  { href: '/dashboard/usage', label: 'Usage', icon: 'usage', group: 'Account' },
  { href: '/dashboard/passports', label: 'Passport', icon: 'passport', group: 'Account' },
  { href: '/dashboard/sessions', label: 'Sessions', icon: 'sessions', group: 'Account' },
  { href: '/dashboard/settings', label: 'Settings', icon: 'settings', group: 'Account' },
  { href: '/dashboard/admin', label: 'Administration', icon: 'models', group: 'Operator' },
  { href: '/explorer', label: 'Explorer', icon: 'explorer', group: 'Public' },
  { href: '/models', label: 'Models', icon: 'models', group: 'Public' },
  { href: '/plans', label: 'Plans', icon: 'plan', group: 'Public' },
  { href: '/passports', label: 'Passports', icon: 'passport', group: 'Public' },
  { href: '/terminal', label: 'Terminal', icon: 'console', group: 'Public' },
  { href: '/verify', label: 'Verify', icon: 'verify', group: 'Public' },
  { href: '/docs', label: 'Docs', icon: 'docs', group: 'Public' },
]

/** What surrounds every page of this service. */
export const frameOf = ({
  signer,
  health,
  depositPolicy,
  settings,
  version,
}: Pick<Deps, 'signer' | 'health' | 'depositPolicy' | 'settings' | 'version'>): Frame => ({
  nav: nav.filter(({ href }) => depositPolicy !== undefined || href !== depositsPath),
  foot: () => ({
    signer: signer.address,
    chainId,
    status: statusText(health),
    version: version.version,
  }),
  isAdmin: (account) => isAdmin(settings, account),
  baseUrl: () => settings.baseUrl,
})

function statusText({ ledger, stopping }: Deps['health']): string {
  if (stopping) return 'Going down for a restart'
  if (ledger === 'checking') return 'Checking the books'
  return ledger === 'balanced' ? 'All systems normal' : 'The books do not balance'
}
