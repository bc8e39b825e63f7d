/** Public pages of passports: the list, each one, its figure and its signed record. */
import { Elysia } from 'elysia'
import { readerAccount } from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { queryOf } from '../../web/http/query.ts'
import { figure } from '../../web/pictures/drawing.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { publicPage } from '../../web/ui/layout.tsx'
import { reply } from '../../web/ui/reply.ts'
import { passportPicturePath } from './api/passport-picture.ts'
import { passportsQuery } from './api/passport-query.ts'
import { browsePassports, findPublicPassport } from './browse.ts'
import { recordOf } from './issue.ts'
import { PassportPage, PassportsPage, publicPath } from './pages/public.tsx'
import { figureHash, kindWords } from './portal/passport-state.tsx'
import { provenStatement, toStatementFile } from './statement-file.ts'

/** Receipts that a passport's page names. */
const receiptsMax = 20

/** Passports for everybody: all, one, its figure as a picture, and its signed record as a file. */
export const passportPages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'passport-pages' })
    .get(publicPath, async ({ request, set }) => {
      const asked = passportsQuery.readForm(queryOf(request))
      const { kind, sort = 'newest', limit, after } = asked
      const found = await browsePassports(deps, { kind, sort }, { limit, after })
      const items = found.items.map((standing) => {
        return { row: standing.row, record: recordOf(deps, standing) }
      })
      const view = { found: { ...found, items }, kind, sort, isFirst: after === undefined }
      const page = publicPage({
        frame,
        title: 'Passports',
        description: 'Agents, people and services with a track record that a public log proves.',
        here: publicPath,
        main: <PassportsPage view={view} />,
        ...(await readerAccount(deps, request)),
      })
      return reply({ request, set }, { page })
    })
    .get(`${publicPath}/:handle`, async ({ params, request, set }) => {
      const standing = await findPublicPassport(deps, params.handle)
      const { row } = standing
      const [receipts, statement] = await Promise.all([
        deps.passports.publicReceipts(row, receiptsMax),
        deps.passports.newestStatement(row.handle),
      ])
      const view = {
        row,
        record: recordOf(deps, standing),
        receipts,
        statement: statement && toStatementFile(deps, statement),
        issuedAt: statement?.createdAt,
        now: deps.clock.now(),
      }
      const page = publicPage({
        frame,
        title: `${row.displayName} (@${row.handle})`,
        description:
          `The passport of @${row.handle}, ${kindWords[row.kind].toLowerCase()}: what it says ` +
          'of itself, and a track record that a public log proves.',
        here: publicPath,
        picture: { path: passportPicturePath(row.handle), alt: `The passport of @${row.handle}` },
        main: <PassportPage view={view} />,
        ...(await readerAccount(deps, request)),
      })
      return reply({ request, set }, { page })
    })
    .get(`${publicPath}/:handle/statement`, async ({ params, set }) => {
      const { row } = await findPublicPassport(deps, params.handle)
      const statement = await deps.passports.newestStatement(row.handle)
      if (!statement) refuse('not_found', 'No record of this passport has been signed yet.')
      set.headers['content-disposition'] = `attachment; filename="${row.handle}.statement.json"`
      return provenStatement(deps, statement)
    })
    .get(`${publicPath}/:handle/rosette.svg`, async ({ params, set }) => {
      const { row } = await findPublicPassport(deps, params.handle)
      set.headers['content-type'] = 'image/svg+xml'
      set.headers['cache-control'] = 'no-cache'
      set.headers['access-control-allow-origin'] = '*'
      return pictureOf(row.handle)
    })

/** The figure alone, for places that show no page of ours. */
const pictureOf = (handle: string): string => {
  const box = 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400"'
  return `<svg ${box}>${figure(figureHash(handle), 0, 0, 400)}</svg>`
}
