/** The spine beside the pages of a signed-in person: icons where space is short. */
import { type Actor, homes, may } from '../../kernel/acting.ts'
import { assetPath } from '../http/assets.ts'
import { Address } from './address.tsx'
import { Tabs } from './filters.tsx'
import type { Foot, Frame, NavItem } from './frame.ts'
import { Icon } from './icon.tsx'
import { renderChild } from './jsx-runtime.ts'
import { Logo, RosetteMark } from './rosette.tsx'
import { Switcher } from './switcher.tsx'
import { type Reader, themes } from './theme.ts'

export const Brand = ({ href }: { href: string }) => (
  <a class="brand" href={href}>
    <Logo />
    <span class="lb">Counterfoil</span>
  </a>
)

type RailProps = { frame: Frame; here: string; acting: Actor; reader: Reader }

export const Rail = ({ frame, here, acting, reader }: RailProps) => {
  const group = (name: NavItem['group']) => (
    <NavGroup name={name} frame={frame} here={here} acting={acting} />
  )
  return (
    <nav class="spine" aria-label="Main">
      <Brand href={homes[acting.role]} />
      <PaletteButton frame={frame} acting={acting} />
      <a class="noscript find" href="/dashboard/find">
        Find a page
      </a>
      {group('Use')}
      <button class="more" type="button" popovertarget="more">
        <Icon name="more" />
        <span class="lb">More</span>
      </button>
      <div class="rest" id="more" popover>
        {group('Account')}
        {frame.isAdmin(acting.wallet) ? group('Operator') : null}
        <footer>
          <Switcher acting={acting} memberships={frame.memberships?.(acting) ?? []} />
          <Service frame={frame} reader={reader} />
          <SignedIn acting={acting} />
        </footer>
      </div>
    </nav>
  )
}

/** Opens the command palette, which a script fetches then; without script it is not there. */
function PaletteButton({ frame, acting }: { frame: Frame; acting: Actor }) {
  const open = frame.nav.filter(({ group }) => group !== 'Operator' || frame.isAdmin(acting.wallet))
  const pages = open.map(({ href, label }) => [href, label])
  if (may(acting, 'keys:write')) pages.push(['/dashboard/keys/new', 'New key'])
  return (
    <button
      class="scripted palettekey"
      type="button"
      data-palette={assetPath('palette.js')}
      data-pages={JSON.stringify(pages)}
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
    >
      <Icon name="search" />
      <span class="lb">
        Go to or do
        <kbd>Ctrl K</kbd>
      </span>
    </button>
  )
}

type GroupProps = Omit<RailProps, 'reader'> & { name: NavItem['group'] }

function NavGroup({ name, frame: { nav, counts }, here, acting }: GroupProps) {
  const items = nav.filter((item) => item.group === name && item.within === undefined)
  if (items.length === 0) return null
  const id = `nav-${name.toLowerCase()}`
  const current = familyOf(nav, here)
  const known = counts?.(acting)
  return (
    <section>
      <h2 class="vh" id={id}>
        {name}
      </h2>
      <ul class="bare" aria-labelledby={id}>
        {items.map(({ href, icon, label }) => (
          <li>
            <a href={href} aria-current={href === current ? 'page' : undefined}>
              {icon ? <Icon name={icon} /> : null}
              <span class="lb">
                {label}
                {known?.[href] === undefined ? null : <Count href={href} text={known[href]} />}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

type CountProps = { href: string; text: string | undefined; isFragment?: boolean }

const Count = ({ href, text, isFragment }: CountProps) => (
  <span class="n" id={`n${href.replaceAll('/', '-')}`} hx-swap-oob={isFragment && 'true'}>
    {text}
  </span>
)

/** The counts alone, beside a fragment: each takes the place of the one in the page. */
export const countsOf = (frame: Frame, acting: Actor): string =>
  Object.entries(frame.counts?.(acting) ?? {})
    .map(([href, text]) => renderChild(<Count href={href} text={text} isFragment />))
    .join('')

/** The entry of the rail that a page stands under. */
const familyOf = (nav: Frame['nav'], here: string): string =>
  nav.find(({ href }) => href === here)?.within ?? here

/** The pages that share one entry of the rail, above each of them. */
export function FamilyTabs({ nav, here }: { nav: Frame['nav']; here: string }) {
  const parent = familyOf(nav, here)
  const family = nav.filter(({ href, within }) => within === parent || href === parent)
  if (family.length < 2) return null
  return (
    <Tabs
      label={family.find(({ href }) => href === parent)?.label ?? ''}
      here={here}
      tabs={family.map(({ href, label, tab }) => ({ href, label: tab ?? label }))}
    />
  )
}

/** How the service is: a dot and a word, from which what stands behind it opens. */
function Service({ frame, reader }: Pick<RailProps, 'frame' | 'reader'>) {
  const foot = frame.foot()
  return (
    <details>
      <summary>
        <i class={['dot', !foot.isWell && 'warn']}></i>
        <span class="lb">{foot.status}</span>
      </summary>
      <div class="about">
        <FootLines foot={foot} />
        <PublicLink nav={frame.nav} />
        <ThemeSwitch reader={reader} />
      </div>
    </details>
  )
}

function PublicLink({ nav }: { nav: Frame['nav'] }) {
  const first = nav.find(({ group }) => group === 'Public')
  return first ? <a href={first.href}>Public pages</a> : null
}

const SignedIn = ({ acting: { wallet, account, zone } }: { acting: Actor }) => (
  <form
    class="who"
    method="post"
    action="/api/auth/logout"
    data-account={wallet}
    data-acting={account}
    data-zone={zone}
    data-wallet={assetPath('wallet.js')}
  >
    <a href="/dashboard/settings">
      <RosetteMark hash={wallet} />
      <span class="lb">
        <Address value={wallet} />
      </span>
    </a>
    <button type="submit">
      <Icon name="out" />
      <span class="lb">Sign out</span>
    </button>
  </form>
)

export const FootLines = ({ foot }: { foot: Foot }) => (
  <>
    <span>
      Signer <Address value={foot.signer} />
    </span>
    <span>
      Chain {foot.chainId}
      {foot.block === undefined ? null : (
        <>
          , block <data value={String(foot.block)}>{foot.block.toLocaleString('en')}</data>
        </>
      )}
    </span>
    <a href="/status">{foot.status}</a>
    <span>Version {foot.version}</span>
  </>
)

/** Three buttons of one form: no script, and the next page comes in the chosen colours at once. */
export const ThemeSwitch = ({ reader }: { reader: Reader }) => (
  <form class="theme" method="post" action="/theme" aria-label="Colours">
    <input type="hidden" name="back" value={reader.path} />
    {themes.map((theme) => (
      <button type="submit" name="theme" value={theme} aria-pressed={theme === reader.theme}>
        {theme === 'system' ? 'System' : theme === 'light' ? 'Light' : 'Dark'}
      </button>
    ))}
  </form>
)
