/** GET /receipts/:id/picture.png: what a link to a shared receipt shows. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { isHidden, type Receipt } from '../../../verify/receipt.ts'
import { stateWords } from '../../../verify/shown-checks.ts'
import { totalOf } from '../../../verify/slip-lines.ts'
import { keylessGuard } from '../../../web/http/keyless.ts'
import { answerPicture } from '../../../web/pictures/answer-picture.ts'
import * as draw from '../../../web/pictures/drawing.ts'
import type { Pictures } from '../../../web/pictures/pictures.ts'
import { shortId } from '../../../web/ui/hash.tsx'
import { findShared } from '../find-shared.ts'
import { type Judgement, judgeStored } from '../judge.ts'
import { sharedFileOf } from '../receipt-file.ts'

export const receiptPicturePath = (id: string): string => `/receipts/${id}/picture.png`

/** A private receipt has no picture, like one that does not exist. */
export const receiptPictureApi = (deps: Deps, pictures: Pictures) =>
  new Elysia({ name: 'receipt-picture-api' }).use(keylessGuard(deps)).get(
    '/receipts/:id/picture.png',
    async ({ params, request, set }) => {
      const { stored, share } = await findShared(deps, params.id)
      if (!stored || !share) refuse('receipt_not_found')
      if (share.visibility === 'unlisted') set.headers['x-robots-tag'] = 'noindex'
      const judged = await judgeStored(deps, stored, await sharedFileOf(deps, stored, share))
      return answerPicture(pictures, { request, set }, receiptSvg(judged))
    },
    { isKeyless: true },
  )

const left = 150
const textWidth = 560

/** The slip in large, without what its owner hides: the model, the total, how far it has come. */
export function receiptSvg({ file, verdict }: Pick<Judgement, 'file' | 'verdict'>): string {
  const { receipt, digest } = file
  const { run } = receipt
  const model = isHidden(run) ? 'One run' : draw.cut(run.model, 40)
  const outcome = isHidden(run) ? '' : capital(run.outcome)
  return draw.picture(
    draw.paper(60, 1080, 528, 176),
    draw.text(left, 72, `Receipt ${shortId(receipt.id)}`, {
      size: 34,
      isMono: true,
      fill: draw.colours.quiet,
    }),
    draw.text(left, 142, model, {
      size: draw.sizeIn(model, textWidth, 60, true),
      isMono: true,
      isBold: true,
    }),
    ...total(receipt),
    draw.text(left, 454, [outcome, stateWords(verdict)].filter(Boolean).join(' · '), {
      size: 44,
      isBold: true,
      fill: draw.colours.go,
    }),
    draw.figure(digest, 726, 84, 360),
    draw.brand(72, 600, 40),
    draw.text(1128, 600, 'Check it in your browser', {
      size: 36,
      anchor: 'end',
      fill: draw.colours.onAround,
    }),
  )
}

/** The amount as large as it fits, its digits below a cent smaller. */
function total(receipt: Receipt): string[] {
  const amount = totalOf(receipt)
  if (!amount) {
    return [draw.text(left, 306, 'Total hidden', { size: 72, fill: draw.colours.quiet })]
  }
  const [whole, small] = amount
  const size = draw.sizeIn('0'.repeat(whole.length + small.length * 0.6), textWidth, 128, true)
  return [
    draw.text(left, 306, whole, { size, isMono: true, isBold: true }),
    draw.text(left + whole.length * size * 0.6, 306, small, {
      size: size * 0.6,
      isMono: true,
      fill: draw.colours.quiet,
    }),
  ]
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
