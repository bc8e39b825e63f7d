/** Every page by its name: the command palette as a page, for browsers without script. */
import { type Actor, may } from '../../../kernel/acting.ts'
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { PageHead, Panel } from '../../../web/ui/panel.tsx'
import { deeper, newKeyPage, synonyms } from '../palette-words.ts'

export const findPath = '/dashboard/find'

type FindView = { frame: Frame; acting: Actor; keys: readonly Pick<KeyRow, 'id' | 'name'>[] }

export function FindPage({ frame, acting, keys }: FindView) {
  const open = frame.nav.filter(
    ({ group, right }) =>
      (group !== 'Operator' || frame.isAdmin(acting.wallet)) &&
      (right === undefined || may(acting, right)),
  )
  const has = (href: string) =>
    href === newKeyPage ? may(acting, 'keys:write') : open.some((one) => one.href === href)
  const actions = deeper.filter(([needs]) => has(needs)).map(([, href, label]) => ({ href, label }))
  return (
    <>
      <PageHead title="Find a page" />
      <Links id="find-actions" title="Actions" links={actions} />
      <Links id="find-pages" title="Pages" links={open} />
      {keys.length === 0 ? null : (
        <Links
          id="find-keys"
          title="Keys"
          links={keys.map(({ id, name }) => ({ href: `/dashboard/keys/${id}`, label: name }))}
        />
      )}
    </>
  )
}

type LinksProps = {
  id: string
  title: string
  links: readonly { href: string; label: string }[]
}

const Links = ({ id, title, links }: LinksProps) => (
  <Panel id={id} title={title}>
    <ul class="bare finds">
      {links.map(({ href, label }) => (
        <li>
          <a href={href}>{label}</a> <small class="quiet">{synonyms[href] ?? ''}</small>
        </li>
      ))}
    </ul>
  </Panel>
)
