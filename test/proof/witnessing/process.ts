import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logNoteSigner } from '../../../src/proof/signer/ed25519.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import type { Fork } from '../../../src/proof/witnessing/witness.ts'
import { keyTypes, noteKey, vkeyOf } from '../../../src/verify/signed-note.ts'
import { testPrivateKey } from '../../support/world.ts'

const main = join(import.meta.dir, '../../../src/main.ts')

/** The note key of a log under the signer of the tests. */
export const logVkey = (origin: string): string => {
  const { publicKey } = logNoteSigner(signerFromHex(testPrivateKey))
  return vkeyOf(noteKey(origin, keyTypes.ed25519, publicKey))
}

/** `counterfoil witness` in a process of its own; `name` goes to the first start. */
export async function startWitness(logs: [origin: string, key: string][], name?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-witness-'))
  const file = join(folder, 'logs.toml')
  const watch = (all: typeof logs) =>
    writeFileSync(
      file,
      all.map(([origin, key]) => `[[logs]]\norigin = "${origin}"\nkey = "${key}"\n`).join('\n'),
    )
  watch(logs)
  const data = join(folder, 'data')
  const start = async (port: number) => {
    const named = name === undefined ? [] : ['--name', name]
    const listen = ['--listen', `127.0.0.1:${port}`, '--logs', file, '--data', data]
    const child = Bun.spawn([process.execPath, main, 'witness', ...listen, ...named], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const told = await lineOf(child.stderr)
    const vkey = await lineOf(child.stdout)
    return { child, vkey, port: Number(/:(\d+) for/.exec(told)?.[1]) }
  }
  let running = await start(0)
  return {
    folder,
    data,
    vkey: running.vkey,
    url: `http://127.0.0.1:${running.port}`,
    /** Kills the process and starts it again at the same address. */
    restart: async () => {
      running.child.kill('SIGKILL')
      await running.child.exited
      running = await start(running.port)
      return running.vkey
    },
    kill: () => running.child.kill('SIGKILL'),
    watch: (all: typeof logs) => {
      watch(all)
      running.child.kill('SIGHUP')
    },
    forks: (): Fork[] => {
      try {
        const kept = join(data, 'forks')
        return readdirSync(kept).map((one) => JSON.parse(readFileSync(join(kept, one), 'utf8')))
      } catch {
        return []
      }
    },
    stop: async () => {
      running.child.kill('SIGTERM')
      const code = await running.child.exited
      rmSync(folder, { recursive: true, force: true })
      return code
    },
  }
}

export type WitnessProcess = Awaited<ReturnType<typeof startWitness>>

/** The first line of a stream, which is then drained. */
async function lineOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader()
  let text = ''
  while (!text.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the process ended: ${text}`)
    text += new TextDecoder().decode(value)
  }
  void (async () => {
    while (!(await reader.read()).done);
  })()
  return text.split('\n', 1)[0] ?? ''
}
