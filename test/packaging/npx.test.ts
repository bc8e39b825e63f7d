import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeLauncher, writePlatformPackage } from '../../scripts/release/npm.ts'
import { binary, noBinary } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { isNightly } from '../support/nightly.ts'
import { serveRegistry } from '../support/registry.ts'

const node = Bun.which('node')
const isHere = process.platform === 'linux' && process.arch === 'x64'
let folder = ''

describe.skipIf(!isNightly || noBinary || !node || !isHere)('npx counterfoil', () => {
  let registry: Awaited<ReturnType<typeof serveRegistry>>
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-npx-'))
    const out = join(folder, 'packages')
    await writePlatformPackage('linux-x64', binary, out, 1_700_000_000)
    await writeLauncher(['linux-x64'], out, 1_700_000_000)
    registry = await serveRegistry(out)
  })
  afterAll(() => {
    registry?.stop()
    rmSync(folder, { recursive: true })
  })

  test('is the whole installation: from an empty folder to a verified receipt within a minute', async () => {
    const here = join(folder, 'empty')
    const bin = join(folder, 'bin')
    for (const made of [here, bin, join(folder, 'home')]) mkdirSync(made)
    const port = freePort()
    const began = performance.now()
    const env = {
      PATH: `${dirname(node ?? '')}:/usr/bin:/bin`,
      HOME: join(folder, 'home'),
      TMPDIR: folder,
      COUNTERFOIL_LISTEN: `127.0.0.1:${port}`,
      npm_config_registry: registry.origin,
      npm_config_update_notifier: 'false',
    }
    const npx = (...args: string[]) =>
      Bun.spawn(['setsid', 'npx', '--yes', 'counterfoil', ...args], {
        cwd: here,
        env,
        stdout: 'pipe',
        stderr: 'pipe',
      })
    const server = npx('serve', '--dev')
    const reader = server.stdout.getReader()
    try {
      let said = ''
      while (!/COUNTERFOIL_KEY=\S+\s/.test(said)) {
        const { value, done } = await reader.read()
        if (done) throw new Error(await new Response(server.stderr).text())
        said += new TextDecoder().decode(value)
      }
      const startedS = (performance.now() - began) / 1000
      const key = /COUNTERFOIL_KEY=(\S+)/.exec(said)?.[1]
      const origin = `http://127.0.0.1:${port}`
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      while (!(await fetch(`${origin}/readyz`)).ok) await Bun.sleep(50)
      const body = JSON.stringify({ model: 'counterfoil/echo-1', input: 'Hello.' })
      const ran = await fetch(`${origin}/v1/runs`, { method: 'POST', headers, body })
      expect(ran.status).toBe(200)
      const id = ran.headers.get('x-receipt-id')
      const receipt = await fetch(`${origin}/v1/receipts/${id}`, { headers })
      await Bun.write(join(here, 'receipt.json'), await receipt.text())
      const signers = await (await fetch(`${origin}/v1/signer`)).text()
      const signer = /0x[0-9a-fA-F]{40}/.exec(signers)?.[0] ?? ''
      const verified = npx('verify', 'receipt.json', '--signer', signer)
      const words = await new Response(verified.stdout).text()
      expect(await verified.exited).toBe(0)
      expect(words).toContain(`Signed and logged. Signed by ${signer}`)
      const wholeS = (performance.now() - began) / 1000
      console.log(`serves after ${startedS.toFixed(1)} s, verified after ${wholeS.toFixed(1)} s`)
      expect(wholeS).toBeLessThan(60)
      expect(readdirSync(here)).toEqual(['receipt.json'])
    } finally {
      process.kill(-server.pid, 'SIGTERM')
    }
    // npx and the shell between end with the server.
    await server.exited
    await expectGone(`http://127.0.0.1:${port}/livez`)
  }, 120_000)
})

/** Waits until nothing listens any more. */
async function expectGone(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    )
    if (!answers) return
    await Bun.sleep(100)
  }
  throw new Error(`${url} still answers`)
}
