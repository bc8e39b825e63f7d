/** The documents of all pages: head, navigation, main part. */
import { type Actor, may } from '../../kernel/acting.ts'
import { assetPath } from '../http/assets.ts'
import { oklchHex } from '../pictures/oklch.ts'
import type { Frame } from './frame.ts'
import { type Markup, renderChild } from './jsx-runtime.ts'
import { Brand, FamilyTabs, FootLines, Rail, ThemeSwitch } from './rail.tsx'
import { ActingFor } from './switcher.tsx'
import type { Reader } from './theme.ts'
import { Toasts } from './toast.tsx'
import { trimmed } from './trim.ts'
import { Hour } from './when.tsx'

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
  /** The link picture of a listed page; default: that of the landing page. */
  picture?: LinkPicture
  /** Kept out of search engines: private, of one answer, or shared by link. */
  isUnlisted?: boolean
  /** Scripts of this page alone: `wallet`, `verify`, `hx-sse`. */
  scripts?: readonly string[]
}

/** A picture of 1200 x 630 px, by its path on this server, and what it shows in words. */
export type LinkPicture = { path: string; alt: string }

/** A page that can be shown whole, or its main part alone. */
export type Page = {
  title: string
  main: Markup
  html: (reader: Reader) => string
  /** Removes the parts of the page that the role of the viewer may not use. */
  trim?: (part: string) => string
}

/** A page that answers a form. The theme switch on it returns to `path`. */
export const shownAt = (page: Page, path: string): Page => ({
  ...page,
  html: (reader) => page.html({ ...reader, path }),
})

export type DashboardParts = Omit<PageParts, 'account'> & { acting: Actor }

/** A page of a signed-in person: the rail beside it, at the bottom on a phone. */
export function dashboardPage(given: DashboardParts): Page {
  const { acting, here } = given
  const parts = { ...given, account: acting.wallet, frame: frameFor(given.frame, acting) }
  const { frame } = parts
  const main = (
    <>
      <ActingFor acting={acting} />
      <FamilyTabs nav={frame.nav} here={here} />
      {parts.main}
    </>
  )
  const trim = (html: string) => (frame.allows ? trimmed(html, acting, frame.allows) : html)
  return {
    title: titleOf(parts.title),
    main,
    trim,
    html: (reader) =>
      trim(
        document(
          { ...parts, main, isUnlisted: true },
          reader,
          <body>
            <SkipLink />
            <DemoBar frame={frame} />
            <div class="book">
              <Rail frame={frame} here={here} acting={acting} reader={reader} />
              <main id="main" tabindex="-1">
                {main}
              </main>
            </div>
            <Toasts done={reader.done} />
          </body>,
        ),
      ),
  }
}

/** The frame with the entries that a role may open. */
const frameFor = (frame: Frame, acting: Actor): Frame => ({
  ...frame,
  nav: frame.nav.filter(({ right }) => right === undefined || may(acting, right)),
})

/** A page for everybody: the top nav above it. */
export const publicPage = (parts: PageParts): Page => ({
  title: titleOf(parts.title),
  main: parts.main,
  html: (reader) =>
    document(
      parts,
      reader,
      <body class="public">
        <SkipLink />
        <DemoBar frame={parts.frame} />
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
  const { scripts = [] } = parts
  // Loaded only where it is used. Quotation marks in text are escaped here.
  const usesHtmx = / hx-[\w:-]+="/.test(renderChild(parts.main))
  const head = (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
      <Meta parts={parts} path={path} />
      <meta name="theme-color" content={cloth} />
      {usesHtmx ? <meta name="htmx-config" content={htmxConfig} /> : null}
      <link rel="icon" href="/favicon.ico" sizes="32x32" />
      <link rel="icon" href={assetPath('icon.svg')} type="image/svg+xml" />
      <link rel="apple-touch-icon" href={assetPath('touch-icon.png')} />
      <link rel="manifest" href={assetPath('manifest.webmanifest')} />
      {['geist.woff2', 'geist-mono.woff2'].map((font) => (
        <link
          rel="preload"
          href={assetPath(font)}
          as="font"
          type="font/woff2"
          crossorigin="anonymous"
        />
      ))}
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

/** The colour of the browser's own frame, by day and by night: `--cloth` of the stylesheet. */
const cloth = oklchHex(0.29, 0.055, 163)

const titleOf = (title: string): string => `${title} · Counterfoil`

/** The metadata for search engines and link previews. */
function Meta({ parts, path }: { parts: PageParts; path: string }) {
  const { title, description, isUnlisted, frame, markdown, picture } = parts
  const whole = titleOf(title)
  const url = frame.baseUrl() + path.replace(/[?#].*$/s, '')
  return (
    <>
      <title>{whole}</title>
      {description ? <meta name="description" content={description} /> : null}
      {isUnlisted ? (
        <meta name="robots" content="noindex" />
      ) : (
        <>
          <link rel="canonical" href={url} />
          {markdown ? <link rel="alternate" type="text/markdown" href={markdown} /> : null}
          <LinkCard title={whole} parts={parts} url={url} picture={picture ?? landingPicture} />
        </>
      )}
    </>
  )
}

type LinkCardProps = { title: string; parts: PageParts; url: string; picture: LinkPicture }

/** The card that chats and feeds make of a link to the page (Open Graph, X). */
function LinkCard({ title, parts: { description, frame }, url, picture }: LinkCardProps) {
  const address = frame.baseUrl() + picture.path
  return (
    <>
      <meta property="og:site_name" content="Counterfoil" />
      <meta property="og:type" content="website" />
      <meta property="og:title" content={title} />
      {description ? <meta property="og:description" content={description} /> : null}
      <meta property="og:url" content={url} />
      <meta property="og:image" content={address} />
      <meta property="og:image:type" content="image/png" />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta property="og:image:alt" content={picture.alt} />
      <meta name="twitter:card" content="summary_large_image" />
      <meta name="twitter:title" content={title} />
      {description ? <meta name="twitter:description" content={description} /> : null}
      <meta name="twitter:image" content={address} />
      <meta name="twitter:image:alt" content={picture.alt} />
    </>
  )
}

const landingPicture: LinkPicture = {
  path: '/picture.png',
  alt: 'Counterfoil: AI runs that leave a receipt.',
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

/** On every page of a demonstration, where all amounts are invented. */
const DemoBar = ({ frame: { resetsAt } }: { frame: Frame }) => {
  const at = resetsAt?.()
  return at === undefined ? null : (
    <aside class="demo" aria-label="Demo">
      Demo: no real money. Everything here is deleted at <Hour at={at} />.
    </aside>
  )
}

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
