import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { areas, operations, schemas } from '../../src/front/reference/areas.ts'
import { refusals } from '../../src/kernel/refusal.ts'
import { pathOf } from '../../src/web/reference/operation.ts'
import { type World, world } from '../support/world.ts'

let w: World
const html: Record<string, string> = {}
beforeAll(async () => {
  w = await world()
  for (const path of ['/docs', ...areas.map(({ id }) => `/docs/${id}`)]) {
    const answer = await w.call(path, { headers: { accept: 'text/html' } })
    expect([path, answer.status]).toEqual([path, 200])
    html[path] = await answer.text()
  }
})
afterAll(() => w.stop())

describe('GET /docs', () => {
  test.each(areas.map((area) => [area.id, area] as const))(
    '%s has a page with an anchor for each operation and schema',
    (id, area) => {
      const page = html[`/docs/${id}`] ?? ''
      const anchors = [...area.operations.map((one) => one.id), ...Object.keys(area.schemas)]
      expect(anchors.filter((anchor) => !page.includes(` id="${anchor}"`))).toEqual([])
      expect(html['/docs']).toContain(`href="/docs/${id}"`)
    },
  )

  test('names every route, every error and this server', () => {
    const front = html['/docs'] ?? ''
    expect(operations.filter((one) => !front.includes(pathOf(one)))).toEqual([])
    expect(Object.keys(refusals).filter((type) => !front.includes(` id="${type}"`))).toEqual([])
    expect(front).toContain(`${w.origin}/v1`)
  })

  test('leads nowhere that is not there', async () => {
    const anchorsOf = (page: string) =>
      new Set([...page.matchAll(/ id="([^"]+)"/g)].map((m) => m[1]))
    const ids = Object.fromEntries(
      Object.entries(html).map(([path, page]) => [path, anchorsOf(page)]),
    )
    const lost = Object.entries(html).flatMap(([path, page]) =>
      [...page.matchAll(/href="((?:\/docs[^"#]*)?)#([^"]+)"/g)].flatMap(
        ([, to = '', anchor = '']) =>
          ids[to === '' ? path : to]?.has(anchor) ? [] : [`${path} -> ${to}#${anchor}`],
      ),
    )
    expect(lost).toEqual([])
  })

  test('needs no script and loads nothing foreign', () => {
    for (const page of Object.values(html)) {
      const loaded = [...page.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"/g)]
      const foreign = loaded.map(([, url = '']) => url).filter((url) => !url.startsWith('/'))
      expect(foreign.filter((url) => !url.startsWith(w.origin))).toEqual([])
    }
  })

  test('has no page for an area that is none', async () => {
    expect((await w.call('/docs/none')).status).toBe(404)
  })

  test('links to every schema where it is described', () => {
    const all = Object.values(html).join('')
    const described = Object.keys(schemas).filter((name) => !all.includes(`id="${name}"`))
    expect(described).toEqual([])
  })
})
