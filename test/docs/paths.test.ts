/** Files that texts for contributors name. */
import { expect, test } from 'bun:test'
import { Glob } from 'bun'

const texts = ['*.md', 'docs/*.md', '{src,test}/**/AGENTS.md'].flatMap((pattern) => [
  ...new Glob(pattern).scanSync('.'),
])
const files = [
  '{src,test,drills,bench,scripts,mutation,drizzle,public,contracts}/**/*',
  '*',
].flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: '.', dot: true })])

test('Every source file that a text names by its path or its name exists.', async () => {
  const lost: string[] = []
  for (const text of texts) {
    const page = await Bun.file(text).text()
    for (const [, name = ''] of page.matchAll(/`([\w.*/-]+\.(?:tsx?|sql|css))`/g)) {
      // The example of the recipes.
      if (name.includes('notes')) continue
      const glob = new Glob(`**/${name.replace(/^\.?\//, '')}`)
      if (!files.some((file) => glob.match(file))) lost.push(`${text}: ${name}`)
    }
  }
  expect(lost).toEqual([])
})
