/**
 * `bun scripts/pictures.ts`: takes the README's two pictures, into docs/pictures/.
 * `bun scripts/pictures.ts folder [part of a page's name …]`: photographs every page of a showcase
 * at 1280 and 390 px, light and dark, into that folder.
 */
import { parseArgs } from 'node:util'

const { positionals } = parseArgs({ allowPositionals: true })
const [folder, ...only] = positionals
if (folder === undefined) {
  await import('./pictures/readme.ts')
} else {
  const { photographPages } = await import('./pictures/pages.ts')
  await photographPages(folder, only)
}
