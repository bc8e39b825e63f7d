import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentCost, agentToml, said, startAgentUpstream } from '../support/agent-upstream.ts'
import { cachedTools } from '../support/cached-tools.ts'
import { isNightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import { pricedBuiltins } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3']

/** A program as its author writes it: no cast, no `any`, and every error by its type. */
const program = `
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'

type Message = components['schemas']['ChatMessage']

const client = createClient<paths, 'application/json'>({
  baseUrl: process.env['BASE_URL'] ?? '',
  headers: { Authorization: \`Bearer \${process.env['KEY']}\` },
})
const weather = {
  type: 'function',
  function: { name: 'weather', description: 'Of a city.', parameters: { type: 'object' } },
} as const

const messages: Message[] = [
  { role: 'system', content: [{ type: 'text', text: 'Be short.' }] },
  { role: 'user', content: 'How is the weather in Rome and Bonn?' },
]
const costs: number[] = []
const asked: string[] = []
let answer: string | null = null
while (answer === null) {
  const { data, error } = await client.POST('/v1/chat/completions', {
    body: { model: 'test/agent', messages, max_tokens: 64, tools: [weather] },
  })
  if (error) throw new Error(error.error.message)
  costs.push(data.usage.cost_nusd)
  const [choice] = data.choices
  if (!choice) throw new Error('an answer without a choice')
  const { content, tool_calls } = choice.message
  messages.push({ role: 'assistant', content, ...(tool_calls ? { tool_calls } : {}) })
  for (const call of tool_calls ?? []) {
    if (call.type !== 'function') continue
    asked.push(call.function.arguments)
    messages.push({ role: 'tool', tool_call_id: call.id, content: 'sunny' })
  }
  if (!tool_calls?.length) answer = content
}

let lacking: number | null = null
const dear = await client.POST('/v1/chat/completions', {
  body: { model: 'test/agent', messages: [{ role: 'user', content: 'x' }], max_tokens: 64 },
  headers: { Authorization: \`Bearer \${process.env['POOR_KEY']}\` },
})
if (dear.error) {
  const { error } = dear.error
  if (error.type === 'cap_exceeded') lacking = error.metadata.required_nusd
}
console.log(JSON.stringify({ answer, asked, costs, lacking }))
`

/** A program whose three mistakes a compiler has to find, each in a line of its own. */
const wrong = `import type { components } from './schema.ts'
type Schemas = components['schemas']
export const tool: Schemas['ToolMessage'] = { role: 'tool', content: 'which call?' }
export const user: Schemas['UserMessage'] = { role: 'user', content: [{ type: 'sound' }] }
export const use = (error: Schemas['CapExceededError'] | Schemas['RateLimitedError']) =>
  error.error.metadata?.required_nusd
`

const settings = {
  compilerOptions: {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    target: 'esnext',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    lib: ['esnext', 'dom'],
    types: [],
  },
}

describe.skipIf(!isNightly)('a client that openapi-typescript makes', () => {
  let upstream: Awaited<ReturnType<typeof startAgentUpstream>>
  let w: World
  let folder: string
  beforeAll(async () => {
    upstream = await startAgentUpstream()
    w = await world({ toml: `${pricedBuiltins}\n${agentToml(upstream.url)}` })
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-typed-'))
    const tools = await cachedTools('typed', packages)
    symlinkSync(join(tools, 'node_modules'), join(folder, 'node_modules'))
  }, 600_000)
  afterAll(async () => {
    await w.stop()
    await upstream.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function run(args: readonly string[], env: Record<string, string> = {}) {
    const child = Bun.spawn([process.execPath, '--bun', ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, error] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { status: await child.exited, out, error }
  }

  promise`A21`
  test.each(['/openapi.json', '/openapi/openai.json'])(
    'A tool loop of the types of %s compiles and runs.',
    async (path) => {
      const document = await (await w.call(path)).text()
      await Bun.write(join(folder, 'openapi.json'), document)
      await Bun.write(join(folder, 'loop.ts'), program)
      await Bun.write(join(folder, 'wrong.ts'), wrong)
      const compile = async (file: string) => {
        const files = [file, 'globals.d.ts']
        await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify({ ...settings, files }))
        return (await run(['node_modules/typescript/bin/tsc', '-p', '.'])).out
      }
      await Bun.write(
        join(folder, 'globals.d.ts'),
        'declare const process: { env: Record<string, string | undefined> }\n',
      )
      const made = await run([
        'node_modules/openapi-typescript/bin/cli.js',
        'openapi.json',
        '-o',
        'schema.ts',
      ])
      expect([made.status, made.status === 0 ? '' : made.error]).toEqual([0, ''])
      expect(await compile('loop.ts')).toBe('')
      const found = await compile('wrong.ts')
      const lines = [...found.matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) => Number(line))
      expect(lines).toEqual([3, 4, 6])
      const { secret } = await w.key({ balance: usd })
      const poor = await w.key({ balance: usd, capLimit: 1n })
      const env = { BASE_URL: w.origin, KEY: secret, POOR_KEY: poor.secret }
      const ran = await run(['loop.ts'], env)
      expect([ran.status, ran.status === 0 ? '' : ran.error]).toEqual([0, ''])
      const told = JSON.parse(ran.out)
      expect(told).toEqual({
        answer: said.join(''),
        asked: ['{"city":"Rome"}', '{"city":"Bonn"}'],
        costs: [agentCost, agentCost],
        lacking: expect.any(Number),
      })
    },
    300_000,
  )
})
