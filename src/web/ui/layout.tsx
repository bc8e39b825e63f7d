/** The documents of all pages: head, navigation, main part. */
import { assetPath } from '../http/assets.ts'
import { Address } from './address.tsx'
import type { Foot, Frame, NavItem } from './frame.ts'
import { Icon } from './icon.tsx'
import { type Markup, renderChild } from './jsx-runtime.ts'
import { RosetteMark } from './rosette.tsx'
import { type Theme, themes } from './theme.ts'

export type PageParts = {
  frame: Frame
  title: string
  /** The nav entry this page stands under: `/dashboard/keys`. */
  here: string
  main: Markup
  /** The signed-in wallet. */
  account?: string
  /** What a search engine or a link's preview shows: a sentence or two without private data. */
  description?: string
  /** The path of the same as Markdown, for agents. */
  markdown?: string
  /** Kept out of search engines: private, of one answer, or shared by link. */
  isUnlisted?: boolean
  /** Scripts of this page alone: `wallet`, `verify`, `hx-sse`. */
  scripts?: readonly string[]
  /** How many there are behind an entry: `{ '/dashboard/keys': 4 }`. */
  counts?: Readonly<Record<string, number>>
}

/** How a page looks to this reader. `path` is where the theme switch comes back to. */
export type Reader = { theme: Theme; path: string }

/** A page that can be shown whole, or its main part alone. */
export type Page = { main: Markup; html: (reader: Reader) => string }

/** A page of a signed-in person: the rail beside it, at the bottom on a phone. */
export const dashboardPage = (parts: PageParts & { account: string }): Page => ({
  main: parts.main,
  html: (reader) =>
    document(
      { ...parts, isUnlisted: true },
      reader,
      <body>
        <SkipLink />
        <div class="app">
          <Rail parts={parts} reader={reader} />
          <main class="main" id="main" tabindex="-1">
            {parts.main}
          </main>
        </div>
      </body>,
    ),
})

/** A page for everybody: the top nav above it. */
export const publicPage = (parts: PageParts): Page => ({
  main: parts.main,
  html: (reader) =>
    document(
      parts,
      reader,
      <body class="public">
        <SkipLink />
        <TopNav parts={parts} />
        <main id="main" tabindex="-1">
          {parts.main}
        </main>
        <footer class="foot">
          <FootLines foot={parts.frame.foot()} />
          <a href="/verify.html" download="">
            Offline verifier
          </a>
          <span>MIT licence</span>
          <ThemeSwitch reader={reader} />
        </footer>
      </body>,
    ),
})

function document(parts: PageParts, { theme, path }: Reader, body: Markup): string {
  const { account } = parts
  // On every signed-in page another account in the wallet signs out.
  const scripts = [...new Set([...(parts.scripts ?? []), ...(account ? ['wallet'] : [])])]
  // Loaded only where it is used. Quotation marks in text are escaped here.
  const usesHtmx = / hx-[\w:-]+="/.test(renderChild(parts.main))
  const head = (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <Meta parts={parts} path={path} />
      {usesHtmx ? <meta name="htmx-config" content={htmxConfig} /> : null}
      <link rel="icon" href={assetPath('icon.svg')} type="image/svg+xml" />
      <link
        rel="preload"
        href={assetPath('geist-mono.woff2')}
        as="font"
        type="font/woff2"
        crossorigin="anonymous"
      />
      <link rel="stylesheet" href={assetPath('app.css')} />
      {usesHtmx ? <script src={assetPath(htmxFor(scripts))} defer></script> : null}
      {['page', ...scripts.filter((name) => name !== 'hx-sse')].map((name) => (
        <script type="module" src={assetPath(`${name}.js`)}></script>
      ))}
    </head>
  )
  const html = (
    <html lang="en" data-theme={theme}>
      {head}
      {body}
    </html>
  )
  return `<!doctype html>${renderChild(html)}`
}

/** The metadata for search engines and link previews. */
function Meta({ parts, path }: { parts: PageParts; path: string }) {
  const { title, description, isUnlisted, frame, markdown } = parts
  const whole = `${title} · Counterfoil`
  const name = <title>{whole}</title>
  const told = description ? <meta name="description" content={description} /> : null
  if (isUnlisted) {
    return (
      <>
        {name}
        {told}
        <meta name="robots" content="noindex" />
      </>
    )
  }
  const url = frame.baseUrl() + path.replace(/[?#].*$/s, '')
  return (
    <>
      {name}
      {told}
      <link rel="canonical" href={url} />
      {markdown ? <link rel="alternate" type="text/markdown" href={markdown} /> : null}
      <meta property="og:site_name" content="Counterfoil" />
      <meta property="og:type" content="website" />
      <meta property="og:title" content={whole} />
      {description ? <meta property="og:description" content={description} /> : null}
      <meta property="og:url" content={url} />
    </>
  )
}

/** htmx alone, or as one file with what keeps live parts. */
const htmxFor = (scripts: readonly string[]): string =>
  scripts.includes('hx-sse') ? 'htmx-sse.js' : 'htmx.js'

/** No inline styles, no code in attributes; going back asks the server: nothing private stays. */
const htmxConfig = JSON.stringify({
  includeIndicatorCSS: false,
  extensions: 'sse',
  history: 'reload',
  defaultTimeout: 30_000,
})

const SkipLink = () => (
  <a class="skip" href="#main">
    Skip to content
  </a>
)

const Brand = ({ href }: { href: string }) => (
  <a class="brand" href={href}>
    <RosetteMark hash={brandHash} />
    Counterfoil
  </a>
)

/** SHA-256 of "counterfoil". */
const brandHash = '4403e4c4323b63bb1f169d08cbf025f9cee66eaefafcf6518795a43d86d75f21'

type RailProps = { parts: PageParts & { account: string }; reader: Reader }

const Rail = ({ parts, reader }: RailProps) => (
  <nav class="rail" aria-label="Main">
    <Brand href="/dashboard" />
    <NavGroup name="Use" parts={parts} />
    <button class="more" type="button" popovertarget="more">
      <Icon name="more" />
      More
    </button>
    <div class="rest" id="more" popover>
      <NavGroup name="Account" parts={parts} />
      {parts.frame.isAdmin(parts.account) ? <NavGroup name="Operator" parts={parts} /> : null}
      <NavGroup name="Public" parts={parts} />
      <footer>
        <SignedIn account={parts.account} />
        <FootLines foot={parts.frame.foot()} />
        <ThemeSwitch reader={reader} />
      </footer>
    </div>
  </nav>
)

function NavGroup({ name, parts }: { name: NavItem['group']; parts: PageParts }) {
  const items = parts.frame.nav.filter((item) => item.group === name)
  if (items.length === 0) return null
  const id = `nav-${name.toLowerCase()}`
  return (
    <section>
      <h2 id={id}>{name}</h2>
      <ul class="bare" aria-labelledby={id}>
        {items.map(({ href, icon, label }) => (
          <li>
            <a href={href} aria-current={href === parts.here ? 'page' : undefined}>
              <Icon name={icon} />
              {label}
              <Count of={parts.counts?.[href]} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

const Count = ({ of }: { of: number | undefined }) =>
  of === undefined ? null : <span class="n">{of.toLocaleString('en')}</span>

const SignedIn = ({ account }: { account: string }) => (
  <form class="who" method="post" action="/api/auth/logout" data-account={account}>
    <RosetteMark hash={account} />
    <Address value={account} />
    <button class="link" type="submit">
      Sign out
    </button>
  </form>
)

const FootLines = ({ foot }: { foot: Foot }) => (
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
    <a href="/v1/status">{foot.status}</a>
    <span>Version {foot.version}</span>
  </>
)

/** On a phone the menu opens over the page: that takes no script. */
const TopNav = ({ parts: { frame, here, account } }: { parts: PageParts }) => (
  <header>
    <Brand href="/" />
    <button class="btn menu" type="button" popovertarget="menu">
      Menu
    </button>
    <nav aria-label="Main" id="menu" popover>
      {frame.nav
        .filter((item) => item.group === 'Public')
        .map(({ href, label }) => (
          <a href={href} aria-current={href === here ? 'page' : undefined}>
            {label}
          </a>
        ))}
    </nav>
    <a class="btn" href={account ? '/dashboard' : '/signin'}>
      {account ? 'Dashboard' : 'Connect wallet'}
    </a>
  </header>
)

/** Three buttons of one form: no script, and the next page comes in the chosen colours at once. */
const ThemeSwitch = ({ reader }: { reader: Reader }) => (
  <form class="theme" method="post" action="/theme" aria-label="Colours">
    <input type="hidden" name="back" value={reader.path} />
    {themes.map((theme) => (
      <button type="submit" name="theme" value={theme} aria-pressed={theme === reader.theme}>
        {theme === 'system' ? 'System' : theme === 'light' ? 'Light' : 'Dark'}
      </button>
    ))}
  </form>
)
