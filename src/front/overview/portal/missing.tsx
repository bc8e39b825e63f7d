/** What a signed-in person gets for a page that does not exist: the frame, and ways on. */
import { Elysia } from 'elysia'
import { sessionAuth } from '../../../access/accounts/needs-session.ts'
import type { Deps } from '../../../app/deps-port.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import { dashboardPage } from '../../../web/ui/layout.tsx'
import { PageHead, Panel } from '../../../web/ui/panel.tsx'
import { reply } from '../../../web/ui/reply.ts'

/** Everything below `/dashboard` that no other page answers. */
export const missingPages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'missing-pages' }).use(sessionAuth(deps)).get(
    '/dashboard/*',
    ({ request, set, account }) => {
      const main = <Missing account={account} />
      const page = dashboardPage({ frame, title: 'Nothing here', here: '', account, main })
      return reply({ request, set }, { page, status: 404 })
    },
    { needsSession: 'page' },
  )

const Missing = ({ account }: { account: string }) => (
  <>
    <PageHead title="Nothing here" />
    <Panel id="missing" title="404">
      <Empty
        hash={account}
        title="There is no such page."
        action={
          <div class="row">
            <ButtonLink href="/dashboard" look="go">
              Overview
            </ButtonLink>
            <ButtonLink href="/dashboard/runs">Find a run by its id</ButtonLink>
            <ButtonLink href="/docs">Docs</ButtonLink>
          </div>
        }
      >
        It may have moved, or the address has a slip of the pen.
      </Empty>
    </Panel>
  </>
)
