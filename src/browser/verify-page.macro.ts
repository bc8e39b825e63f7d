/** Puts the offline verifier into one HTML file while Bun transpiles. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Runs while Bun transpiles: puts the page's style and its bundled script into one file. */
export function embedVerifyPage(): string {
  const script = bundle(join(import.meta.dir, 'verify-page.ts'))
  const style = read('verify-page.css')
  // Connecting, loading and sending forms are forbidden to the page by itself.
  const policy = [
    "default-src 'none'",
    `script-src '${sourceOf(script)}'`,
    `style-src '${sourceOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const parts: [mark: string, part: string][] = [
    [`content="default-src 'none'"`, `content="${policy}"`],
    ['<!-- style -->', `<style>${style}</style>`],
    ['<!-- script -->', `<script type="module">${script}</script>`],
  ]
  let page = read('verify-page.html')
  for (const [mark, part] of parts) {
    if (!page.includes(mark)) throw new Error(`the page lacks its ${mark}`)
    page = page.replace(mark, () => part)
  }
  return page
}

const read = (name: string): string => readFileSync(join(import.meta.dir, name), 'utf8')

/** `Bun.build` would deadlock inside of a macro; the command line does not. */
function bundle(entry: string): string {
  const flags = ['--target=browser', '--format=esm', '--minify']
  const built = Bun.spawnSync([process.execPath, 'build', entry, ...flags])
  if (!built.success) throw new Error(built.stderr.toString())
  // Inside of HTML nothing in a script may look like its end.
  return built.stdout
    .toString()
    .replace(/<(\/script|!--)/gi, (_, rest: string) => `\\x3c${rest}`)
    .trim()
}

const sourceOf = (text: string): string =>
  `sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}`
