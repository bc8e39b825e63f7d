/** The tabs around every operator page. */
import type { Actor } from '../../../kernel/acting.ts'
import { Tabs } from '../../../web/ui/filters.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { dashboardPage, type Page } from '../../../web/ui/layout.tsx'
import { PageHead } from '../../../web/ui/panel.tsx'

export const adminPath = '/dashboard/admin'

export const paths = {
  accounts: `${adminPath}/accounts`,
  models: `${adminPath}/models`,
  margins: `${adminPath}/margins`,
  anchors: `${adminPath}/anchors`,
  deposits: `${adminPath}/deposits`,
  ledger: `${adminPath}/ledger`,
  auditLog: `${adminPath}/audit-log`,
} as const

const tabs = [
  { href: adminPath, label: 'Today' },
  { href: paths.accounts, label: 'Accounts' },
  { href: paths.models, label: 'Models and providers' },
  { href: paths.margins, label: 'Margins' },
  { href: paths.anchors, label: 'Anchors' },
  { href: paths.deposits, label: 'Deposits' },
  { href: paths.ledger, label: 'Ledger' },
  { href: paths.auditLog, label: 'Audit log' },
]

type AdminPageParts = { frame: Frame; acting: Actor; title: string; tab: string; children: Child }

export const adminPage = ({ frame, acting, title, tab, children }: AdminPageParts): Page =>
  dashboardPage({
    frame,
    acting,
    title: `${title} · Administration`,
    here: adminPath,
    main: (
      <>
        <Tabs label="Administration" tabs={tabs} here={tab} />
        {tab === adminPath ? null : <PageHead title={title} />}
        {children}
      </>
    ),
  })
