/** GET /passports/:handle/picture.png: what a link to a public passport shows. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import type { PassportRow } from '../../../storage/db/schema/schema.ts'
import { keylessGuard } from '../../../web/http/keyless.ts'
import { answerPicture } from '../../../web/pictures/answer-picture.ts'
import * as draw from '../../../web/pictures/drawing.ts'
import type { Pictures } from '../../../web/pictures/pictures.ts'
import { findPublicPassport } from '../browse.ts'
import { recordOf } from '../issue.ts'
import { machineLines } from '../pages/document.tsx'
import { passportPath } from '../passport-view.ts'
import { countText, figureHash, kindWords, rateText } from '../portal/passport-state.tsx'
import type { TrackRecord } from '../record.ts'

export const passportPicturePath = (handle: string): string => `${passportPath(handle)}/picture.png`

/** A draft or a hidden passport has none, like one that does not exist. */
export const passportPictureApi = (deps: Deps, pictures: Pictures) =>
  new Elysia({ name: 'passport-picture-api' }).use(keylessGuard(deps)).get(
    '/passports/:handle/picture.png',
    async ({ params, request, set }) => {
      const standing = await findPublicPassport(deps, params.handle)
      const svg = passportSvg(standing.row, recordOf(deps, standing))
      return answerPicture(pictures, { request, set }, svg)
    },
    { isKeyless: true },
  )

const left = 492
const textWidth = 640

type PicturedPassport = Pick<PassportRow, 'handle' | 'displayName' | 'kind' | 'createdAt'>
type PicturedRecord = Pick<TrackRecord, 'runs' | 'success_rate_bps'>

/** The cover beside the photo page, its record and its lines for machines. */
export function passportSvg(row: PicturedPassport, record: PicturedRecord): string {
  const handle = `@${row.handle}`
  const { displayName, kind } = row
  // A name in letters that the fonts lack would be drawn with holes.
  const name = draw.isDrawable(displayName) ? draw.cut(displayName, 28) : handle
  return draw.picture(
    `<rect x="420" width="780" height="486" fill="${draw.colours.paper}"/>`,
    draw.figure(figureHash(row.handle), 60, 40, 300, true),
    draw.text(62, 420, 'PASSPORT', {
      size: 46,
      isMono: true,
      isBold: true,
      spacing: 11,
      fill: draw.colours.onAround,
    }),
    draw.text(left, 132, name, { size: draw.sizeIn(name, textWidth, 84), isBold: true }),
    draw.text(left, 206, name === handle ? kindWords[kind] : `${handle} · ${kindWords[kind]}`, {
      size: draw.sizeIn(`${handle} · ${kindWords[kind]}`, textWidth, 44),
      fill: draw.colours.quiet,
    }),
    ...recordLines(record),
    draw.brand(left, 444, 40, draw.colours.go),
    `<rect y="486" width="1200" height="144" fill="${draw.colours.bar}"/>`,
    ...machineLines(row).map((line, i) =>
      draw.text(36, 546 + 56 * i, line, { size: 42, isMono: true, spacing: 0.4 }),
    ),
  )
}

function recordLines(record: PicturedRecord): string[] {
  const { runs } = record
  if (runs === 0) {
    return [draw.text(left, 330, 'No runs yet', { size: 56, fill: draw.colours.quiet })]
  }
  const count = countText(runs)
  const size = draw.sizeIn(count, textWidth, 88, true)
  const words = `${runs === 1 ? 'run' : 'runs'} · ${rateText(record)} succeeded`
  return [
    draw.text(left, 316, count, { size, isMono: true, isBold: true, fill: draw.colours.go }),
    draw.text(left, 370, words, { size: 40, fill: draw.colours.quiet }),
  ]
}
