import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noBinary } from '../support/binary.ts'
import { said } from '../support/scripted-upstream.ts'
import { fill, markersOf, recipe, unmarked } from './recipes.ts'
import { type Agents, costOf, serveAgents, unitsOf } from './scripted.ts'

test('every program of docs/clients.md has a test, and its variables are set as it says', () => {
  expect(markersOf('js')).toHaveLength(7)
  expect(['js', 'json', 'toml'].flatMap(unmarked)).toEqual([])
  expect(unmarked('sh')).toEqual([
    'export OPENAI_BASE_URL=https://gw.example/v1 OPENAI_API_KEY=sk-service-…',
  ])
})

describe.skipIf(noBinary)('docs/clients.md', () => {
  let served: Agents
  let folder: string
  beforeAll(async () => {
    served = await serveAgents()
    folder = await mkdtemp(join(tmpdir(), 'counterfoil-recipes-'))
    await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  }, 60_000)
  afterAll(async () => {
    await served?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test.each(markersOf('js'))('the program for %s runs as it stands there', async (marker) => {
    const { origin, secret, baseUrl } = served
    const small = 'anthropic/agent'
    const file = join(folder, `${marker.replace(' ', '-')}.mjs`)
    await Bun.write(file, fill(recipe(marker), { origin, secret, large: small, small }))
    const { runs } = await served.billed(async () => {
      const child = Bun.spawn([process.execPath, file], {
        cwd: folder,
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: folder,
          OPENAI_BASE_URL: baseUrl,
          OPENAI_API_KEY: secret,
          ANTHROPIC_BASE_URL: origin,
          ANTHROPIC_AUTH_TOKEN: secret,
        },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [words, complaints, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ])
      expect([code, complaints]).toEqual([0, ''])
      expect(words).toContain(marker === 'openai' ? 'digest' : said.join(''))
    })
    for (const run of runs) expect(run.cost_nusd).toBe(costOf(unitsOf(run)))
    expect(runs).toHaveLength(marker === 'openai' ? 2 : 1)
  })
})
