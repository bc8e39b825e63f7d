import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { areas } from '../../src/front/reference/areas/areas.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { isNightly } from '../support/nightly.ts'
import { type World, world } from '../support/world.ts'
import { fewLooks, inspectPage, lookName, looks } from './support.ts'

const shots = process.env['SHOTS']
const pages = ['/docs', ...areas.map(({ id }) => `/docs/${id}`)]

describe.skipIf(noChromium)('the reference, in a real browser', () => {
  let service: World
  let browser: Browser
  beforeAll(async () => {
    service = await world()
    browser = await startChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  // The pages of areas are made of the same parts: each takes one look, in turns with the next.
  const inTurns = fewLooks.filter(({ script }) => script)
  const visits = pages.flatMap((path, i) =>
    (path === '/docs' || isNightly ? looks : inTurns.slice(i % 2, (i % 2) + 1)).map(
      (look) => [`${path}: ${lookName(look)}`, path, look] as const,
    ),
  )
  test.each(visits)(
    '%s',
    async (_, path, look) => {
      const name = `${path.slice(1).replace('/', '-')}-${look.theme}-${look.width}`
      const shot = shots && look.script ? { shot: `${shots}/${name}.png` } : {}
      expect(await inspectPage(browser, service.origin + path, { ...look, ...shot })).toEqual([])
    },
    60_000,
  )
})
