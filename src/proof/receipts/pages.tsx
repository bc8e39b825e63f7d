/** Public pages of receipts: as their owners share them, with file and proof. */
import { Elysia } from 'elysia'
import { currentSession } from '../../access/accounts/needs-session.ts'
import { isOf } from '../../access/keys/owns.ts'
import type { Deps } from '../../app/deps-port.ts'
import { may } from '../../kernel/acting.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import { isHidden } from '../../verify/receipt.ts'
import { totalOf } from '../../verify/slip-lines.ts'
import { levelWords } from '../../verify/verdict-words.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { shortId } from '../../web/ui/hash.tsx'
import { publicPage } from '../../web/ui/layout.tsx'
import { Notice } from '../../web/ui/notice.tsx'
import { reply, sendOn } from '../../web/ui/reply.ts'
import { witnessedProofOf } from '../log/tlog-proofs.ts'
import { sharedEvidence } from '../upstream-evidence/known-evidence.ts'
import { receiptPicturePath } from './api/receipt-picture.ts'
import { awaitedRun } from './awaited.ts'
import { findShared } from './find-shared.ts'
import { type Judgement, judgeStored } from './judge.ts'
import { ReceiptPage } from './pages/receipt.tsx'
import { ownPath } from './portal/receipt-list.tsx'
import { sharedFileOf } from './receipt-file.ts'
import { numbered } from './sign.ts'

export const receiptPages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'receipt-pages' })
    .get('/r/:id', ({ params, set }) => {
      return sendOn({ set }, `/receipts/${encodeURIComponent(params.id)}`)
    })
    .get('/receipts/:id', async ({ params, request, set }) => {
      const { id } = params
      const { stored, share } = await findShared(deps, id)
      const found = stored && (await currentSession(deps, request))
      const acting = found?.status === 'active' ? found.acting : undefined
      const isOwn =
        stored && acting && may(acting, 'receipts:read') && (await isOf(deps, stored, acting))
      if (stored && isOwn && !share) return sendOn({ set }, ownPath(id))
      if (!stored || !share) refuse('receipt_not_found')
      const known = await sharedEvidence(deps, stored, share)
      const shared = await sharedFileOf(deps, stored, share)
      const judged = await judgeStored(deps, stored, shared, known?.file)
      if (share.visibility === 'unlisted') set.headers['x-robots-tag'] = 'noindex'
      const view = {
        judged,
        baseUrl: deps.settings.baseUrl,
        path: `/receipts/${id}`,
        filePath: `/receipts/${id}/file`,
        isShared: true,
        evidence: known && { known, path: `/v1/receipts/${id}/proof?format=evidence` },
        awaited:
          isOwn && may(acting, 'settings:write') ? await awaitedRun(deps, stored) : undefined,
        notice: isOwn ? <OthersSee id={id} /> : null,
      }
      const page = publicPage({
        frame,
        title: `Receipt ${shortId(id)}`,
        description: describe(judged),
        here: '/verify',
        isUnlisted: share.visibility !== 'public',
        picture: { path: receiptPicturePath(id), alt: describe(judged) },
        main: <ReceiptPage view={view} />,
        scripts: ['receipt'],
        ...(acting ? { account: acting.account } : {}),
      })
      return reply({ request, set }, { page })
    })
    .get('/receipts/:id/file', async ({ params, set }) => {
      const { stored, share } = await findShared(deps, params.id)
      if (!stored || !share) refuse('receipt_not_found')
      set.headers['content-disposition'] = asFile(`${params.id}.receipt.json`)
      return sharedFileOf(deps, stored, share)
    })
    .get('/receipts/:id/proof', async ({ params, set }) => {
      const { id } = params
      const stored = isId('rcpt', id) ? await deps.receipts.find(id) : undefined
      if (!stored) refuse('receipt_not_found')
      const { issuer, logIndex } = await numbered(deps, id, stored)
      set.headers['content-disposition'] = asFile(`${id}.proof.json`)
      return witnessedProofOf(deps, { id, issuer, index: logIndex })
    })

/** The link preview of a receipt. It leaves out hidden sections, and always the payer. */
function describe({ file: { receipt }, verdict }: Judgement): string {
  const { run, charge } = receipt
  const what = isHidden(run) ? 'one run' : `one run of ${run.model}, ${run.outcome}`
  const cost = isHidden(charge) ? '' : `, ${totalOf(receipt)?.join('')}`
  const state = verdict.level === null ? '' : ` ${levelWords[verdict.level]}.`
  return `The signed receipt of ${what}${cost}.${state} Check it: the proof is on the page.`
}

/** A download; the name is an id of ours and an ending. */
export const asFile = (name: string): string => `attachment; filename="${name}"`

const OthersSee = ({ id }: { id: string }) => (
  <Notice
    tone="ok"
    title="This is what others see."
    action={
      <a class="btn small" href={ownPath(id)}>
        Open yours
      </a>
    }
  >
    The receipt is yours. Your dashboard shows all of it.
  </Notice>
)
