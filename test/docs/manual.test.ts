import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'
import { operatorScopes } from '../../src/access/operators/token.ts'
import { roles } from '../../src/kernel/acting.ts'
import { accountEvents, operatorEvents } from '../../src/storage/outbox/event.ts'

const pages = ['*.md', '{docs,reports,bench,mutation,test}/*.md', 'src/*/*.md'].flatMap(
  (pattern) => [...new Glob(pattern).scanSync('.')],
)
const texts = new Map(
  await Promise.all(pages.map(async (page) => [page, await Bun.file(page).text()] as const)),
)
/** The recipes make this room; it is an example. */
const isExample = (path: string) => path.startsWith('src/access/notes/')

describe('the manual', () => {
  test('Every relative link leads to a file, and its anchor to a heading there.', () => {
    const broken: string[] = []
    for (const [page, text] of texts) {
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^(https?|mailto):/.test(target)) continue
        const [path = '', anchor] = target.split('#')
        const file = path === '' ? page : normalize(join(dirname(page), path))
        const isThere = existsSync(file)
        const isHeading = !anchor || anchorsOf(texts.get(file) ?? '').includes(anchor)
        if (!isThere || !isHeading) broken.push(`${page}: ${target}`)
      }
    }
    expect(broken).toEqual([])
  })

  test('The pages of selling name every type of event, every scope of an operator and every role.', () => {
    const named: [page: string, words: readonly string[]][] = [
      ['docs/webhooks.md', [...Object.keys(accountEvents), ...Object.keys(operatorEvents)]],
      ['docs/sell.md', operatorScopes],
      ['docs/api.md', operatorScopes],
      ['docs/members.md', roles],
    ]
    const absent = named.flatMap(([page, words]) =>
      words.filter((word) => !texts.get(page)?.includes(word)).map((word) => `${page}: ${word}`),
    )
    expect(absent).toEqual([])
  })

  test('A picture has at most 200 kB.', () => {
    const pictures = [...new Glob('docs/pictures/*').scanSync('.')]
    expect(pictures.length).toBeGreaterThan(0)
    expect(pictures.filter((file) => Bun.file(file).size > 200_000)).toEqual([])
  })

  test('Every source file that a page names exists.', () => {
    const lost: string[] = []
    for (const [page, text] of texts) {
      for (const [path] of text
        .replaceAll(/https?:\S+/g, '')
        .matchAll(
          /\b(src|test|scripts|docs|drizzle|drills|bench|mutation)\/[\w./-]*\w(?=[`)\s,;:]|$)/gm,
        )) {
        if (!existsSync(path) && !isExample(path)) lost.push(`${page}: ${path}`)
      }
    }
    expect(lost).toEqual([])
  })
})

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
