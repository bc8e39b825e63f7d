/** Vouchers in the dashboard: the page, and the form that redeems one. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import type { Json } from '../../kernel/canonical.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { rateKey } from '../../web/http/client-address.ts'
import { draftOf, readFields } from '../../web/http/fields.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../web/ui/reply.ts'
import { guessesOf } from './api/guesses.ts'
import { redeemBody } from './api/voucher-body.ts'
import { VoucherPage, VoucherPanel, type VoucherView, vouchersPath } from './portal/voucher.tsx'
import { redeemVoucher, toRedemptionView } from './redeem-voucher.ts'

type Context = ReplyContext & { acting: Actor }

const done = { what: 'voucher_redeemed' } as const

/** Largest body, in bytes. */
const bodyBytes = 16_384

export const vouchersPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'vouchers-portal' })
    .use(sessionAuth(deps))
    .get(vouchersPath, ({ request, set, acting }) => show(frame, { request, set, acting }, {}), {
      needsSession: { page: 'deposits:write' },
    })
    .post(
      '/api/portal/vouchers/redeem',
      async ({ request, set, account, acting, visitor }) => {
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        try {
          const { code } = checkBody(redeemBody, value)
          const guesses = guessesOf(deps, { account, network: rateKey(visitor.clientAddress) })
          const made = await redeemVoucher(deps, { account, code, actor: acting.wallet, guesses })
          if (wantsJson(request)) return toRedemptionView({ account, isRoot: true }, made)
          const fragment = <VoucherPanel view={{ made }} />
          const isPart = request.headers.get('hx-request') === 'true'
          // Without a script the statement shows the credit.
          const shown = isPart
            ? { fragment, seeOther: vouchersPath }
            : { fragment, seeOther: '/dashboard/statement', done }
          return reply({ request, set }, shown)
        } catch (error) {
          if (!(error instanceof Refusal) || wantsJson(request)) throw error
          const view = { typed: typedOf(value), refusal: error }
          return show(frame, { request, set, acting }, view, error.status)
        }
      },
      { needsSession: { action: 'deposits:write' }, parse: 'none' },
    )

function show(frame: Frame, { request, set, acting }: Context, view: VoucherView, status?: number) {
  const parts = { frame, title: 'Vouchers', here: vouchersPath, acting }
  const page = dashboardPage({ ...parts, main: <VoucherPage view={view} /> })
  const fragment = <VoucherPanel view={view} />
  return reply({ request, set }, { page, fragment, ...(status === undefined ? {} : { status }) })
}

const typedOf = (value: Json): string => (draftOf(value)['code'] ?? '').slice(0, 100)
