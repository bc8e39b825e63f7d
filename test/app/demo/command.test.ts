import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promise } from '../../support/promise.ts'
import { importsOf, resolve, source } from '../../support/source.ts'

/** The words of a `serve --demo` that does not begin, and its exit code. */
async function refusal(args: string[], toml: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-test-demo-'))
  const file = join(folder, 'counterfoil.toml')
  writeFileSync(file, toml)
  const child = Bun.spawn(
    [process.execPath, 'src/main.ts', 'serve', '--demo', '--config', file, ...args],
    { env: { ...env, PATH: process.env['PATH'] ?? '' }, stderr: 'pipe', stdout: 'ignore' },
  )
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  rmSync(folder, { recursive: true })
  return { said, code }
}

promise`R4 C: serve --demo refuses every setting of real use: data, chain, servers, admins.`
test('serve --demo refuses each setting of real use by its name', async () => {
  const toml = `database_url = "postgres://db.example/gateway"
admins = ["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"]
[chain]
rpc_urls = ["https://rpc.example"]
[[upstreams]]
id = "real"
base_url = "https://models.example/v1"
[[webhooks]]
id = "ops"
url = "https://hooks.example/in"
secret_env = "HOOK_SECRET"
`
  const env = {
    HOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    COUNTERFOIL_SIGNER_KEY: '11'.repeat(32),
  }
  const { said, code } = await refusal(['--data', '/srv/gateway', '--dev'], toml, env)
  expect(code).toBe(78)
  expect(said.match(/^ {2}- .+$/gm)?.map((line) => line.slice(4).split(':')[0])).toEqual([
    '--dev does not go with --demo; leave one of them out',
    'data (flag)',
    'database_url (file)',
    'admins (file)',
    'chain.rpc_urls (file)',
    '[[upstreams]]',
    '[[webhooks]]',
    'COUNTERFOIL_SIGNER_KEY',
  ])
  expect(said).toContain('serve without --demo')
  expect(said).not.toContain('11'.repeat(32))
}, 60_000)

test('no start but that of a demonstration loads one', () => {
  const named = [...source.keys()].flatMap((file) =>
    importsOf(file)
      .map((from) => resolve(file, from))
      .filter((target) => target.startsWith('src/app/demo/') || target === 'src/cli/serve-demo.ts')
      .filter(() => !file.startsWith('src/app/demo/'))
      .map((target) => `${file} -> ${target}`),
  )
  expect(named.sort()).toEqual([
    'src/cli/serve-demo.ts -> src/app/demo/demo.ts',
    'src/cli/serve.ts -> src/cli/serve-demo.ts',
  ])
  expect(source.get('src/cli/serve.ts')).toContain("await import('./serve-demo.ts')")
})
