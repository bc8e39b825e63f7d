/** Embeds styles, scripts and fonts at transpile time. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file that browsers get, as the executable carries it. */
export type EmbeddedAsset = {
  name: string
  /** `/assets/<name>-<first 16 hex of the SHA-256 of its bytes>.<extension>`. */
  path: string
  type: string
  /** Base64 of the bytes, or of their gzip where that is smaller. */
  bytes: string
  gzipped: boolean
}

const root = join(import.meta.dir, '../../..')

/** Files as they are, by the name that pages ask for. */
const files: Record<string, string> = {
  'geist.woff2': 'public/geist.woff2',
  'geist-latin.woff2': 'public/geist-latin.woff2',
  'geist.LICENSE.txt': 'public/geist.LICENSE.txt',
  'geist-mono.woff2': 'public/geist-mono.woff2',
  'geist-mono.LICENSE.txt': 'public/geist-mono.LICENSE.txt',
  'lucide.LICENSE.txt': 'public/lucide.LICENSE.txt',
  'icon.svg': 'public/icon.svg',
  'icon-192.png': 'public/icon-192.png',
  'icon-512.png': 'public/icon-512.png',
  'touch-icon.png': 'public/touch-icon.png',
  'favicon.ico': 'public/favicon.ico',
  'htmx.js': 'node_modules/htmx.org/dist/htmx.min.js',
}

/**
 * Files one behind the other. htmx looks at the page in the turn after it ran: an extension in a
 * file of its own that comes later than that is never used.
 */
const joined: Record<string, string[]> = {
  'htmx-sse.js': [
    'node_modules/htmx.org/dist/htmx.min.js',
    'node_modules/htmx.org/dist/ext/hx-sse.min.js',
  ],
}

/** Scripts of ours, each bundled from `src/browser/<name>.ts`. */
const scripts = [
  'page',
  'wallet',
  'verify',
  'evidence',
  'receipt',
  'landing',
  'check',
  'console',
  'deposit',
  'liabilities',
  'terminal',
  'live-list',
  'palette',
]

/** Runs while Bun transpiles: bundles the browser's scripts and reads what goes to browsers. */
export function embedAssets(): EmbeddedAsset[] {
  const plain = Object.entries(files).map(([name, path]) => embed(name, read(path)))
  const whole = Object.entries(joined).map(([name, paths]) =>
    embed(name, Buffer.from(paths.map((path) => read(path).toString()).join('\n'))),
  )
  const bundled = scripts.map((name) => embed(`${name}.js`, bundle(`src/browser/${name}.ts`)))
  const urlOf = new Map(plain.map(({ name, path }) => [name, path]))
  const linked = (text: string) =>
    text.replace(/\{asset:([\w.-]+)\}/g, (_, name: string) => urlOf.get(name) ?? missing(name))
  const css = shortCss(read('public/app.css').toString())
  const manifest = read('public/manifest.webmanifest').toString()
  return [
    ...plain,
    ...whole,
    ...bundled,
    embed('app.css', Buffer.from(linked(css))),
    embed('manifest.webmanifest', Buffer.from(linked(manifest))),
  ]
}

/** A stylesheet without comments and spaces; licences, which stand first, stay as they are. */
function shortCss(text: string): string {
  const css = withFolds(text.replace(/\/\*(?!!)[\s\S]*?\*\//g, ''))
  const start = css.indexOf('@layer')
  const rules = css
    .slice(start)
    .replace(/\n\s+/g, '\n')
    .replace(/[ \n]([{};])/g, '$1')
    .replace(/([{};])\s+/g, '$1')
    .replace(/([a-z]): (?=\S)/g, '$1:')
    .replaceAll(';}', '}')
    .replaceAll(', ', ',')
    .replaceAll(' > ', '>')
  return css.slice(0, start).trimStart() + rules
}

/** The rules of rows in two lines, again for tables that fold earlier and later than most. */
function withFolds(css: string): string {
  const [middle] =
    /@container \(width < 46rem\) \{\s*\.two\.mid \{[\s\S]*?\n {4}\}\n {2}\}/.exec(css) ?? []
  if (middle === undefined) throw new Error('app.css has no rules for rows in two lines')
  const fold = (width: number, name: string) =>
    middle.replace('46rem', `${width}rem`).replace('.two.mid', `.two.${name}`)
  return css.replace(middle, () => [fold(56, 'early'), middle, fold(36, 'late')].join('\n'))
}

const read = (path: string): Buffer => readFileSync(join(root, path))

/** `Bun.build` would deadlock inside of a macro; the command line does not. */
function bundle(entry: string): Buffer {
  const flags = ['--target=browser', '--format=esm', '--minify']
  const built = Bun.spawnSync([process.execPath, 'build', join(root, entry), ...flags])
  if (!built.success) throw new Error(built.stderr.toString())
  return built.stdout
}

function missing(name: string): never {
  throw new Error(`${name} is named in public/, but is not an asset`)
}

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
  woff2: 'font/woff2',
}

/** The build takes its time once: this is a twentieth smaller than what zlib makes. */
const smallest = { library: 'libdeflate', level: 12 } as const

function embed(name: string, body: Buffer): EmbeddedAsset {
  const dot = name.lastIndexOf('.')
  const hash = new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 16)
  const gzip = Buffer.from(Bun.gzipSync(new Uint8Array(body), smallest))
  const gzipped = gzip.byteLength < body.byteLength * 0.9
  return {
    name,
    path: `/assets/${name.slice(0, dot)}-${hash}${name.slice(dot)}`,
    type: types[name.slice(dot + 1)] ?? 'application/octet-stream',
    bytes: (gzipped ? gzip : body).toString('base64'),
    gzipped,
  }
}
