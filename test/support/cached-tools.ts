import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Tools that are too large for the checkout stay here from one run of the tests to the next. */
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'counterfoil-tests')

/**
 * The folder whose `node_modules` has these packages, each with its exact version
 * (`typescript@5.9.3`). They are installed at the first use, without running their scripts.
 */
export async function cachedTools(name: string, packages: readonly string[]): Promise<string> {
  const key = new Bun.CryptoHasher('sha256').update(packages.join(' ')).digest('hex').slice(0, 12)
  const folder = join(cache, `${name}-${key}`)
  if (existsSync(folder)) return folder
  // Whole or not at all: another process may install the same.
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  writeFileSync(join(fresh, 'package.json'), '{"name":"tools","private":true}')
  const cmd = [process.execPath, 'add', '--exact', '--ignore-scripts', ...packages]
  const child = Bun.spawn(cmd, { cwd: fresh, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`bun add ${packages.join(' ')}: ${said}`)
  try {
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}
