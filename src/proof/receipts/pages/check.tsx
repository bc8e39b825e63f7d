/** `/verify`: checks a receipt file on the server where no script runs. */
import { Elysia } from 'elysia'
import { readerAccount } from '../../../access/accounts/needs-session.ts'
import type { Deps } from '../../../app/deps-port.ts'
import { Refusal, refuse } from '../../../kernel/refusal.ts'
import { elsewhereById } from '../../../kernel/shard.ts'
import { isAddress } from '../../../verify/address.ts'
import { repeatedMembers } from '../../../verify/json-text.ts'
import { isReceiptFile, type ReceiptFile } from '../../../verify/receipt.ts'
import { readSupplements } from '../../../verify/supplements.ts'
import { readJson } from '../../../web/http/body.ts'
import { readForm } from '../../../web/http/fields.ts'
import { keylessGuard, takeCheck } from '../../../web/http/keyless.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { publicPage } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply, sendOn } from '../../../web/ui/reply.ts'
import { verifyBodyBytes } from '../check-receipt.ts'
import { judgeGiven, noReader } from '../judge.ts'
import { readSubmission } from '../submitted-receipt.ts'
import { type CheckView, VerifyPage } from './check-form.tsx'

/**
 * `/verify`: a receipt file is dropped, chosen or pasted, and checked by the browser; without
 * script the form is posted and this server checks. An id or a link leads to the receipt's page.
 */
export const verifyPages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'verify-pages' })
    .use(keylessGuard(deps))
    .get('/verify', ({ request, set }) => show(deps, frame, { request, set }, emptyForm))
    .post(
      '/verify',
      async ({ request, set, network }) => {
        const form = await readForm(request, { limitBytes: verifyBodyBytes })
        const text = form['file']?.trim() ? form['file'] : (form['text'] ?? '')
        await takeCheck(deps, { network, text: Object.values(form).join('\n') })
        const typed = typedIn(form)
        const say = (fault: CheckView['fault'], status: number) =>
          show(deps, frame, { request, set }, { ...typed, fault }, status)
        const signers = typed.signers.split(/[\s,;]+/).filter((word) => word !== '')
        if (!signers.every(isAddress)) {
          const message = 'These are not all addresses: 0x and 40 hexadecimal digits each.'
          return say({ field: 'signers', message }, 422)
        }
        const given = readSubmission(text, deps.settings.baseUrl)
        if (given.kind === 'wrong') return say({ field: 'text', message: given.message }, 422)
        if (given.kind === 'receipt') {
          const isElsewhere = elsewhereById(deps.shard, given.id) !== undefined
          if (!isElsewhere && !(await deps.shares.find(given.id))) {
            return say({ field: 'text', message: notShared }, 404)
          }
          return sendOn({ set }, `/receipts/${given.id}`)
        }
        const read = readSupplements(typed)
        if (!read.ok) return say(read, 422)
        try {
          const judged = await judgeGiven(deps, given, { signers, beside: read.beside })
          return show(deps, frame, { request, set }, { ...typed, judged })
        } catch (error) {
          // A form can name no shard, so the browser cannot send it on.
          if (!(error instanceof Refusal) || error.type !== 'misdirected_request') throw error
          return say({ field: 'text', message: elsewhereWords }, 421)
        }
      },
      { isKeyless: true, parse: 'none' },
    )
    .post(
      '/verify/chain',
      async ({ request, network }) => {
        const { value, text } = await readJson(request, { limitBytes: verifyBodyBytes })
        await takeCheck(deps, { network, text })
        if (!isReceiptFile(value)) refuse('unprocessable', 'This is not a receipt file.')
        // As the JSON is: judging it reads it strictly.
        const given = { file: value as unknown as ReceiptFile, problems: repeatedMembers(text) }
        const { payload } = await judgeGiven(deps, given, noReader)
        return { chain: payload.chain }
      },
      { isKeyless: true, parse: 'none' },
    )

const typedIn = (form: Readonly<Record<string, string | undefined>>) => ({
  text: form['text'] ?? '',
  signers: form['signers'] ?? '',
  quote: form['quote'] ?? '',
  evidence: form['evidence'] ?? '',
  policy: form['policy'] ?? '',
})

const emptyForm: CheckView = typedIn({})

const notShared =
  'No receipt with this id is shared here. Paste its file instead, or ask its owner to share it.'

const elsewhereWords =
  'Another shard of this service issued this receipt, and only that one knows its signers. ' +
  'Turn on JavaScript, or use the offline page below.'

async function show(
  deps: Deps,
  frame: Frame,
  { request, set }: ReplyContext,
  view: CheckView,
  status = 200,
) {
  const page = publicPage({
    frame,
    title: 'Verify a receipt',
    description:
      'Drop a receipt file: your own browser checks the signature, the total, its place in the ' +
      'public log and its anchor on chain 4663. Nothing leaves the page.',
    here: '/verify',
    isUnlisted: view !== emptyForm,
    main: <VerifyPage view={view} deps={deps} />,
    scripts: ['check'],
    ...(await readerAccount(deps, request)),
  })
  return reply({ request, set }, { page, status })
}
