import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { type Home, makeHome, makeKey, must, noBinary } from '../support/binary.ts'
import { promise } from '../support/promise.ts'

// `bun run build` makes it; scripts/test.sh says when it is missing.
describe.skipIf(noBinary)('the compiled binary in a folder someone else wrote', () => {
  let home: Home
  beforeAll(async () => {
    home = await makeHome()
    const evil = 'console.log("EVIL"); console.error("EVIL"); process.exit(9)'
    const files = {
      '.env': 'COUNTERFOIL_LOG_LEVEL=nonsense\nCOUNTERFOIL_DATA=/nowhere\nNODE_ENV=development\n',
      '.env.local': 'COUNTERFOIL_LOG_LEVEL=nonsense\n',
      '.env.production': 'COUNTERFOIL_LOG_LEVEL=nonsense\n',
      'bunfig.toml': 'preload = ["./evil.ts"]\n[run]\nbun = true\n',
      'evil.ts': evil,
      'package.json': '{"name":"evil","type":"commonjs","imports":{"#evil":"./evil.ts"}}',
      'tsconfig.json': '{"compilerOptions":{"paths":{"*":["./evil.ts"]}}}',
      'index.ts': evil,
      'serve.ts': evil,
      'version.ts': evil,
      'node_modules/commander/index.js': evil,
      'node_modules/commander/package.json': '{"name":"commander","main":"index.js"}',
      'node_modules/secp256k1/index.js': evil,
      'node_modules/secp256k1/bindings.js': evil,
      'node_modules/node-gyp-build/index.js': evil,
      'node_modules/pino-pretty/index.js': evil,
      'node_modules/elysia/index.js': evil,
    }
    await Promise.all(
      Object.entries(files).map(([name, text]) => Bun.write(join(home.folder, name), text)),
    )
  })
  afterAll(() => home?.remove())

  promise`L6 C: The executable takes nothing from the folder that it is started in.`
  test('runs nothing that lies there', async () => {
    const { code, stdout, stderr } = await home.cli('version', '--json')
    expect({ code, stderr, version: JSON.parse(stdout).version }).toEqual({
      code: 0,
      stderr: '',
      version,
    })
  })

  promise`L6`
  test('takes no setting from its .env', async () => {
    const shown = await must(home, 'config')
    expect(shown).not.toContain('nonsense')
    expect(shown).not.toContain('/nowhere')
  })

  test('serves, makes keys, runs and signs as anywhere else', async () => {
    const server = await home.start()
    const { secret: key } = await makeKey(home)
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    expect((await server.call('/v1/runs', { key, json })).status).toBe(200)
    // A fault shows nothing about itself, as in production.
    const lost = await server.call('/v1/runs', { method: 'POST', key, body: '{' })
    expect(await lost.text()).not.toContain('stack')
    expect(await server.stop()).toBe(0)
    for (const file of Object.values(home.printed)) {
      expect(readFileSync(file, 'utf8')).not.toContain('EVIL')
    }
    expect(readdirSync(home.data)).toContain('signer.key')
  })
})
