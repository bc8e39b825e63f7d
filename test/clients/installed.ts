/**
 * Agents for the terminal, installed once into a cache folder outside of the checkout. They are
 * started with a home of their own, and can reach loopback alone: everything else goes to a proxy
 * on a port where nothing listens.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isNightly } from '../support/nightly.ts'

export const clis = {
  claude: '@anthropic-ai/claude-code@2.1.328',
  codex: '@openai/codex@0.169.0',
  opencode: 'opencode-ai@1.18.33',
}
export type Cli = keyof typeof clis

const cache = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'counterfoil-clients',
)

/** The program of a CLI, installed in the nightly tier; undefined, said by name, where it cannot be. */
export async function installed(name: Cli): Promise<string | undefined> {
  if (!isNightly) return undefined
  const wanted = clis[name]
  const folder = join(cache, wanted.replaceAll('/', '+'))
  const program = join(folder, 'node_modules', '.bin', name)
  if (existsSync(program)) return program
  const half = `${folder}.${process.pid}`
  mkdirSync(half, { recursive: true })
  writeFileSync(join(half, 'package.json'), '{"private":true}')
  const child = Bun.spawn([process.execPath, 'add', '--exact', '--trust', wanted], {
    cwd: half,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: 300_000,
  })
  const [code, words] = await Promise.all([child.exited, new Response(child.stderr).text()])
  if (code === 0 && existsSync(join(half, 'node_modules', '.bin', name))) {
    rmSync(folder, { recursive: true, force: true })
    renameSync(half, folder)
    return program
  }
  rmSync(half, { recursive: true, force: true })
  console.warn(`left out: ${wanted} cannot be installed: ${words.trim().split('\n').at(-1)}`)
  return undefined
}

/** No updates, no telemetry, and no way but loopback. */
export const quiet: Record<string, string> = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  ALL_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
  NO_COLOR: '1',
}
