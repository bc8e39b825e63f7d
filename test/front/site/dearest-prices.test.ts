import { afterAll, beforeAll, expect, test } from 'bun:test'
import { markupText } from '../../../src/front/admin/portal/models.tsx'
import { makeCatalogue } from '../../../src/models/catalogue.ts'
import { modelToml, upstreamToml } from '../../support/runs.ts'
import { type World, world } from '../../support/world.ts'

let w: World
const hours =
  '[[models.hours]]\nfrom = "16:30"\nto = "00:30"\ninput = "$7/M"\noutput = "$8/M"\nrequest = "$0.5"\n'
const own = '{ to = "x:n", input = "$3/M", output = "$4/M", cache_read = "$0.3/M" }'
beforeAll(async () => {
  const toml =
    upstreamToml('x', 'http://127.0.0.1:9/v1') +
    modelToml('hours/m', '"x:m"', hours) +
    modelToml('varied/m', `"x:m", ${own}`)
  w = await world({ toml })
}, 30_000)
afterAll(() => w.stop())

const textOf = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

test('The page of models shows the dearest price where it shows one, and names the usual ones.', async () => {
  const html = await (await w.call('/models')).text()
  const rowOf = (id: string) =>
    textOf(html.split('<tr').find((row) => row.includes(`<strong>${id}</strong>`)) ?? '')
  expect(rowOf('hours/m')).toMatch(/\$7\.00.*\$8\.00.*\$0\.50/)
  expect(rowOf('varied/m')).toMatch(/\$3\.00.*\$0?\.?.*\$4\.00/)
  const text = textOf(html)
  expect(text).toContain('hours/m At all other hours Input $1.00')
  expect(text).toContain('varied/m Usual price Input $1.00')
})

test('A markup is the least of any hour.', () => {
  const cost = { input_pusd: 1000, output_pusd: 1000 }
  const night = { from: '16:30', to: '00:30', input_pusd: 900, output_pusd: 2000 }
  const { get } = makeCatalogue({
    models: [
      {
        id: 'a/m',
        kind: 'chat',
        context_tokens: 10,
        max_output_tokens: 5,
        input_pusd: 1500,
        output_pusd: 2000,
        route: [{ to: 'x:m', cost }],
        hours: [night],
      },
    ],
    upstreamIds: ['x'],
  })
  const model = get('a/m')
  expect(model && markupText(model)).toBe('-10%')
})
