import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { version } from '../../package.json'

const binary = resolve('dist/counterfoil')

// `bun run build` makes it; scripts/test.sh says when it is missing.
describe.skipIf(!existsSync(binary))('the compiled binary in a folder somebody else wrote', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterfoil-hostile-'))
    const evil = 'console.log("EVIL"); console.error("EVIL")'
    const files = {
      '.env': 'COUNTERFOIL_LISTEN=nonsense\nNODE_ENV=development\n',
      '.env.production': 'COUNTERFOIL_LISTEN=nonsense\n',
      'bunfig.toml': 'preload = ["./evil.ts"]\n[run]\nbun = true\n',
      'evil.ts': evil,
      'package.json': '{"name":"evil","type":"commonjs","imports":{"#evil":"./evil.ts"}}',
      'tsconfig.json': '{"compilerOptions":{"paths":{"*":["./evil.ts"]}}}',
      'node_modules/commander/index.js': evil,
      'node_modules/commander/package.json': '{"name":"commander","main":"index.js"}',
      'node_modules/secp256k1/index.js': evil,
    }
    await Promise.all(
      Object.entries(files).map(([name, text]) => Bun.write(join(folder, name), text)),
    )
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const runs = (...args: string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder }
    const done = Bun.spawnSync([binary, ...args], { cwd: folder, env, stdin: 'ignore' })
    return { code: done.exitCode, text: done.stdout.toString() + done.stderr.toString() }
  }

  test('runs nothing that lies there', () => {
    const { code, text } = runs('version', '--json')
    expect(text).not.toContain('EVIL')
    expect(text).toContain(version)
    expect(code).toBe(0)
  })

  test('takes no setting from its .env', () => {
    const { code, text } = runs('config')
    expect(text).not.toContain('nonsense')
    expect(code).toBe(0)
  })
})
