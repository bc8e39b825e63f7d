import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { noBinary, unknownSecret } from '../support/binary.ts'
import { isNightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import type { WireName } from '../support/scripted-upstream.ts'
import { type Cli, clis, installed } from './installed.ts'
import { type Agents, eachWire, serveAgents, shortage, wordsRead } from './scripted.ts'
import { after, answerWords, before, makeProject, type Project } from './terminal.ts'

const names = Object.keys(clis) as Cli[]
const withinMs = 480_000
/** An agent starts in this, in ms, also on a busy machine; one that retried a 401 took 100 s. */
const startMs = 60_000

/** The kind of server whose protocol each speaks. */
const own: Record<Cli, WireName> = { claude: 'anthropic', codex: 'responses', opencode: 'openai' }

promise`S12`
describe.skipIf(noBinary || !isNightly).each(names)('%s in the terminal', async (cli) => {
  const program = (await installed(cli)) ?? ''
  let served: Agents
  const projects: Project[] = []
  beforeAll(async () => {
    served = await serveAgents()
  }, 60_000)
  afterAll(async () => {
    await served?.stop()
    for (const project of projects) await project.remove()
  })
  const made = async (large: string, secret: string) => {
    const small = `${own[cli]}/coder`
    const project = await makeProject(cli, {
      origin: served.origin,
      secret,
      large,
      small,
      program,
    })
    projects.push(project)
    served.scripted.turnFor = project.turnFor
    return project
  }
  const run = test.skipIf(program === '')

  run.each(eachWire)(
    'edits a file in a loop of tools before a server of kind %s, and is billed what it used',
    async (wire) => {
      const project = await made(`${wire}/coder`, served.secret)
      const { entries } = await served.billed(async () => {
        const { code, words } = await project.run()
        expect([code, words]).toEqual([0, expect.stringContaining(answerWords.join(''))])
      })
      expect(project.notes()).toBe(after)
      expect(entries.some(({ units }) => (units['cache_read'] ?? 0) > 0)).toBe(true)
    },
    withinMs,
  )

  run(
    'goes on with a conversation, whose cached input is billed as such',
    async () => {
      const project = await made(`${own[cli]}/coder`, served.secret)
      await served.billed(() => project.run())
      const { runs } = await served.billed(async () => {
        const { code, words } = await project.goOn()
        expect([code, words]).toEqual([0, expect.stringContaining(answerWords.join(''))])
      })
      const cached = runs.flatMap(({ lines }) =>
        lines.filter(({ meter }) => meter === 'cache_read'),
      )
      expect(cached.map(({ quantity }) => quantity)).toEqual([1100])
    },
    withinMs,
  )

  run(
    'an interrupt stops the model; what was delivered is charged',
    async () => {
      const project = await made(`${own[cli]}/coder-endless`, served.secret)
      const known = served.scripted.account.length
      const cut = () => served.scripted.account.slice(known).find(({ isCut }) => isCut)
      const { runs } = await served.billed(() =>
        project.interrupt(() => until('words', () => (cut()?.words ?? 0) > wordsRead * 20, 60_000)),
      )
      expect(runs.filter(({ outcome }) => outcome === 'cancelled')).toHaveLength(1)
      expect(served.scripted.counts.active).toBe(0)
    },
    withinMs,
  )

  run(
    'a person with a wrong key reads so at once',
    async () => {
      const project = await made(`${own[cli]}/coder`, unknownSecret)
      const { runs } = await served.billed(async () => {
        const begun = performance.now()
        const { code, words } = await project.run()
        expect(performance.now() - begun).toBeLessThan(startMs)
        expect(words).toMatch(/missing or unknown/)
        expect(code).not.toBe(0)
      })
      expect(runs).toEqual([])
    },
    withinMs,
  )

  test.skipIf(program === '' || cli !== 'claude')(
    'Claude Code works with its key in ANTHROPIC_API_KEY',
    async () => {
      const project = await made('anthropic/coder', served.secret)
      await served.billed(async () => {
        const retyped = (line: string) => line.replace('ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY')
        const { code, words } = await project.run(retyped)
        expect([code, words]).toEqual([0, expect.stringContaining(answerWords.join(''))])
      })
      expect(project.notes()).toBe(after)
    },
    withinMs,
  )

  run(
    'a person without money reads what lacks and what to do',
    async () => {
      const project = await made(`${own[cli]}/coder`, await served.poorKey())
      const { runs } = await served.billed(async () => {
        const { code, words } = await project.run()
        expect(words).toMatch(shortage)
        expect(code).not.toBe(0)
      })
      expect(runs).toEqual([])
      expect(project.notes()).toBe(before)
    },
    withinMs,
  )
})
