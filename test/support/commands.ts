import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCommandServices } from '../../src/app/open-command-services.ts'
import { configOf } from '../../src/cli/context.ts'
import { program } from './program.ts'

/** Commands of the source on a data folder of their own, and the office that they open. */
export function commandHome() {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-commands-'))
  const data = join(folder, 'data')
  const run = (...args: string[]): { code: number; stdout: string; stderr: string } => {
    const cmd = [...program, ...args]
    const env = { PATH: process.env['PATH'] ?? '', COUNTERFOIL_DATA: data }
    const { exitCode, stdout, stderr } = Bun.spawnSync({ cmd, cwd: folder, env })
    return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
  }
  run('migrate')
  return {
    folder,
    run,
    office: () => openCommandServices(configOf({ data })),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
