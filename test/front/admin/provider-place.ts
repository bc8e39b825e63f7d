import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openChangeDesk } from '../../../src/app/changes/change-desk.ts'
import { openProviderDesk } from '../../../src/app/providers/open-desk.ts'
import { reloader } from '../../../src/app/reload.ts'
import { readConfig } from '../../../src/config/file.ts'
import { configOf, load } from '../../config/load.ts'
import { testAccount, type World } from '../../support/world.ts'

/** The only key that the provider takes. */
export const providerKey = 'gsk_right-and-secret'

const listed = [
  { id: 'llama-3.3-70b-versatile', context_window: 131_072, max_completion_tokens: 32_768 },
  { id: 'brand-new', context_window: 4096 },
]

/** Gives a world a configuration file of its own, and a provider that has two models. */
export function providerPlace(w: World, more = '') {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-desk-'))
  const path = join(folder, 'counterfoil.toml')
  const text = `# ours\nadmins = ["${testAccount}"]\n`
  writeFileSync(path, text)
  const data = join(folder, 'data')
  const flags = { config: path, data }
  const start = load({ flags: { data }, fileText: text + more })
  const config = { ...('config' in start ? start.config : configOf({ fileText: text })), data }
  const log = { ...w.deps.log, setLevel: () => {} }
  const reload = reloader({
    service: w.deps,
    log,
    config,
    readAgain: () => readConfig(flags, path),
  })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) =>
      request.headers.get('authorization') === `Bearer ${providerKey}`
        ? Response.json({ object: 'list', data: listed })
        : Response.json({ error: {} }, { status: 401 }),
  })
  w.deps.reload.again = reload
  w.deps.providers.desk = openProviderDesk({ path, flags, config, reload }, w.deps.clock)
  w.deps.changes.desk = openChangeDesk({ path, flags, config, reload })
  return {
    at: `http://127.0.0.1:${server.port}/v1`,
    begin: text,
    folder,
    path,
    keyFile: join(data, 'keys/groq'),
    text: () => readFileSync(path, 'utf8'),
    stop: () => {
      server.stop(true)
      rmSync(folder, { recursive: true })
      w.deps.reload.again = undefined
      w.deps.providers.desk = undefined
      w.deps.changes.desk = undefined
    },
  }
}
