/** Several nodes of one service behind a proxy to their database, as executables. */
import { chmodSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  grant,
  type Home,
  makeHome,
  makeKey,
  type Server,
  type StartOptions,
} from '../../test/support/binary.ts'
import { freePort } from '../../test/support/free-port.ts'
import { drilledModels, roomy } from '../../test/support/paced-service.ts'
import { startPacedUpstream } from '../../test/support/paced-upstream.ts'

/** How long a run may go on after SIGTERM, in s. */
export const graceS = 3

/** The second well-known test key: it signs the receipts of every node. */
const signerKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

export type Node = {
  name: string
  home: Home
  /** Another address at each start. */
  server: Server
  /** Of `/metrics`, on a listener of its own. */
  metricsUrl: string
  start(options?: StartOptions): Promise<void>
}

export type Service = Awaited<ReturnType<typeof startService>>

/**
 * Starts nodes on one database. The first migrates it; all share one signer key and one funded
 * key of an account.
 * @param databaseUrl where the nodes reach their database, query included.
 */
export async function startService(databaseUrl: string, count = 3) {
  const upstream = await startPacedUpstream()
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-signer-'))
  const keyFile = join(folder, 'signer.key')
  writeFileSync(keyFile, `${signerKey}\n`)
  chmodSync(keyFile, 0o600)
  const nodes: Node[] = []
  const remove = async () => {
    await Promise.all(nodes.map(({ home }) => home.remove()))
    await upstream.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    for (let i = 0; i < count; i++) {
      const home = await makeHome()
      const metrics = `127.0.0.1:${freePort()}`
      home.configure(tomlOf({ databaseUrl, keyFile, upstream: upstream.url, metrics }))
      const start = async (options: StartOptions = {}) => {
        node.server = await home.start({ port: freePort(), ...options })
      }
      const metricsUrl = `http://${metrics}/metrics`
      const node = { name: `node ${i + 1}`, home, metricsUrl, start } as Node
      nodes.push(node)
      await node.start()
    }
    const { home } = nodes[0] as Node
    await grant(home, '1000.00')
    const { secret } = await makeKey(home)
    return { nodes, secret, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

type Settings = Record<'databaseUrl' | 'keyFile' | 'upstream' | 'metrics', string>

const tomlOf = ({ databaseUrl, keyFile, upstream, metrics }: Settings): string =>
  `
base_url = "https://gw.example"
database_url = "${databaseUrl}"

[signer]
key_file = "${keyFile}"

[metrics]
listen = "${metrics}"

${drilledModels(upstream)}
${roomy}
`.replace('[limits]', `[limits]\nstop_grace_s = ${graceS}`)
