import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../test/support/free-port.ts'
import type { Target } from './load.ts'
import { run, start } from './processes.ts'
import { answers, manyRequests, type Running, running, toStub } from './targets.ts'

export const peer = 'Portkey 1.15.2'

/** The one peer that npm alone installs. Unpinned, what it needs answers every stream with 500. */
const manifest = {
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2' },
  overrides: { hono: '4.9.7', '@hono/node-server': '1.13.5' },
}
const server = 'node_modules/@portkey-ai/gateway/build/start-server.js'

/** The folder it is installed in, once. @throws with what npm said. */
export async function installPeer(): Promise<string> {
  const folder = join(tmpdir(), 'counterfoil-bench', 'portkey-1.15.2')
  if (existsSync(join(folder, server))) return folder
  mkdirSync(folder, { recursive: true })
  await Bun.write(`${folder}/package.json`, JSON.stringify(manifest))
  await run(['npm', 'install', '--silent', '--no-audit', '--no-fund'], folder)
  return folder
}

/** The peer on Node or on Bun, between us and the stub. */
export async function startPeer(
  engine: 'node' | 'bun',
  stub: Target,
  folder: string,
): Promise<Running> {
  const port = freePort()
  const command = [engine === 'bun' ? process.execPath : engine, server]
  const started = await start({
    command: [...command, '--headless', `--port=${port}`],
    folder,
    env: manyRequests,
    ready: /running|ready|listening|http:/i,
  })
  const origin = `http://127.0.0.1:${port}`
  await answers(origin)
  return running(`portkey on ${engine}`, started, origin, toStub, {
    authorization: 'Bearer none',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${stub.origin}/v1`,
  })
}
