/**
 * What every fault is tried on: one service whose clients write down what they were told, and the
 * question afterwards whether it holds all of that, once.
 */
import { mkdirSync } from 'node:fs'
import type { StartOptions } from '../test/support/binary.ts'
import { freePort } from '../test/support/free-port.ts'
import { makePacedService, roomy } from '../test/support/paced-service.ts'
import type { Asked } from './asked.ts'
import { startGate } from './fault-gate.ts'

export type Bench = Awaited<ReturnType<typeof makeBench>>

/**
 * A service with a funded key. It outlives its servers: a fault once made stays visible. Its data
 * folder is a file system of its own where `smallMiB` says how large.
 */
export async function makeBench({ smallMiB }: { smallMiB?: number } = {}) {
  const gate = await startGate()
  const { home, secret, remove } = await makePacedService(`${gate.toml}\n${roomy}`, ({ data }) => {
    if (smallMiB !== undefined) mountSmall(data, smallMiB)
  })
  const removeAll = async () => {
    if (smallMiB !== undefined) Bun.spawnSync(['umount', '-l', home.data])
    await remove()
    await gate.stop()
  }
  const asked: Asked[] = []
  return { home, gate, secret, asked, remove: removeAll, [Symbol.asyncDispose]: removeAll }
}

function mountSmall(folder: string, MiB: number): void {
  mkdirSync(folder)
  const options = `size=${MiB}m,mode=0700`
  const { exitCode, stderr } = Bun.spawnSync(
    ['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder],
    { stderr: 'pipe' },
  )
  if (exitCode !== 0) throw new Error(`no tmpfs: ${stderr}`)
}

/** Without the replacement of itself at the start: what attaches to it keeps its process. */
export const oneProcess = { BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' }

export const startOn = ({ home }: Pick<Bench, 'home'>, options: StartOptions = {}) =>
  home.start({ ...options, env: { ...oneProcess, ...options.env } })

/** Starts the server as the last words of another command, which becomes it. */
export const startUnder = (
  bench: Pick<Bench, 'home'>,
  under: string[],
  options: StartOptions = {},
) => startOn(bench, { ...options, port: freePort(), isWaiting: true, under })
