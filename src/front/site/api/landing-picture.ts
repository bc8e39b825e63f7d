/** GET /picture.png: the picture of links to the landing page, and to pages without their own. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { keylessGuard } from '../../../web/http/keyless.ts'
import { answerPicture } from '../../../web/pictures/answer-picture.ts'
import * as draw from '../../../web/pictures/drawing.ts'
import type { Pictures } from '../../../web/pictures/pictures.ts'

export const landingPictureApi = (deps: Deps, pictures: Pictures) =>
  new Elysia({ name: 'landing-picture-api' })
    .use(keylessGuard(deps))
    .get(
      '/picture.png',
      ({ request, set }) =>
        answerPicture(pictures, { request, set }, landingSvg(deps.signer.address)),
      { isKeyless: true },
    )

/** The sentence of the landing page beside a slip with the figure of the signer. */
export const landingSvg = (signer: string): string =>
  draw.picture(
    draw.brand(72, 116, 46),
    ...['AI runs', 'that leave', 'a receipt.'].map((line, i) =>
      draw.text(72, 262 + 104 * i, line, {
        size: 108,
        isBold: true,
        spacing: -4,
        fill: draw.colours.onAround,
      }),
    ),
    draw.text(72, 560, 'Prepaid · verifiable · self-hosted', {
      size: 40,
      fill: draw.colours.onAround,
    }),
    `<g transform="rotate(4 930 300)">${draw.paper(706, 456, 560, 70)}${slip(signer)}</g>`,
  )

/** A blank slip: it shows no amount, because every amount would be made up. */
function slip(signer: string): string {
  const rows = [0, 1].map((row) => {
    const y = 418 + row * 44
    const bar = (x: number, width: number) =>
      `<rect x="${x}" y="${y}" width="${width}" height="16" rx="3" fill="${draw.colours.line}"/>`
    return bar(776, 96 + row * 40) + bar(976 - row * 24, 100 + row * 24)
  })
  const dashes = `stroke="${draw.colours.line}" stroke-width="3" stroke-dasharray="9 7"`
  const line = `<path d="M776 500h300" ${dashes}/>`
  return draw.figure(signer, 770, 58, 320) + rows.join('') + line
}
