import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withAdmins } from '../../src/config/admins.ts'
import { program } from '../support/program.ts'

const alice = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const bob = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

describe('other admins in the text of a file', () => {
  test.each([
    ['', `admins = ["${bob}"]\n`],
    [`admins = []\n`, `admins = ["${bob}"]\n`],
    [
      `# mine\nlisten = "127.0.0.1:1"\nadmins = [\n  "${alice}",\n] # us\n\n[limits]\nrpm = 5\n`,
      `# mine\nlisten = "127.0.0.1:1"\nadmins = ["${bob}"] # us\n\n[limits]\nrpm = 5\n`,
    ],
    [
      `# admins = []\n[limits]\nrpm = 5\n`,
      `admins = ["${bob}"]\n# admins = []\n[limits]\nrpm = 5\n`,
    ],
  ])('The file %j gets the other admins.', (text, expected) => {
    expect(withAdmins(text, [bob])).toBe(expected)
  })

  test.each([
    ['a file that is wrong', 'admins = ['],
    ['a comment inside of the list', `admins = [ # ]\n"${alice}"]\n`],
    ['a list inside of a text', `base_url = """http://localhost:1\nadmins = []"""\n`],
  ])('The text is left alone if unclear: %s.', (_, text) => {
    expect(withAdmins(text, [bob])).toBeUndefined()
  })
})

test('the command changes the file and nothing else in it, and lists', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-admins-'))
  const file = join(folder, 'counterfoil.toml')
  const run = (words: string[], env: Record<string, string> = {}) => {
    // Where the project's tsconfig.json says how pages are made.
    const cwd = join(import.meta.dir, '../..')
    const command = [...program, 'admin', ...words, '--config', file]
    const { PATH = '' } = process.env
    const ran = Bun.spawnSync(command, { cwd, env: { PATH, ...env } })
    return [ran.exitCode, ran.stdout.toString()] as const
  }
  try {
    expect(run(['grant', bob])).toEqual([78, ''])
    writeFileSync(file, `# ours\nadmins = ["${alice}"]\n`)
    chmodSync(file, 0o640)
    expect(run(['grant', bob.toLowerCase()])).toEqual([0, `${alice}\n${bob}\n`])
    expect(readFileSync(file, 'utf8')).toBe(`# ours\nadmins = ["${alice}", "${bob}"]\n`)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(run(['revoke', alice])).toEqual([0, `${bob}\n`])
    expect(run(['list', '--json'])).toEqual([0, `{"object":"list","data":["${bob}"]}\n`])
    expect(run(['revoke', bob], { COUNTERFOIL_ADMINS: alice })).toEqual([2, ''])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 240_000)
