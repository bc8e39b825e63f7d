import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A chain of its own on a free loopback port, with ten rich accounts that need no key. */
export type Anvil = { url: string; pid: number; stop(): Promise<void> }

/** The binary itself, from the package of this platform: its wrapper would hide the pid. */
const binary = join(
  dirname(Bun.resolveSync('@foundry-rs/anvil/package.json', import.meta.dir)),
  `../anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}/bin/anvil`,
)

export const noAnvil = !existsSync(binary)
if (noAnvil) console.warn('left out: contracts on a chain (anvil has no binary for this platform)')

/** Starts anvil as chain 4663, where a block is `safe` after one more and `finalized` after two. */
export async function startAnvil(...flags: string[]): Promise<Anvil> {
  const fixed = ['--host', '127.0.0.1', '--port', '0', '--chain-id', '4663']
  const node = Bun.spawn([binary, ...fixed, '--slots-in-an-epoch', '1', ...flags], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const stop = async () => {
    node.kill()
    await node.exited
  }
  const output = node.stdout.pipeThrough(new TextDecoderStream())
  let printed = ''
  const reader = output.getReader()
  while (true) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`anvil ended: ${printed}`)
    printed += value
    const port = /Listening on 127\.0\.0\.1:(\d+)\n/.exec(printed)?.[1]
    if (!port) continue
    // It logs every call: a full pipe would stop it.
    void drain(reader)
    return { url: `http://127.0.0.1:${port}`, pid: node.pid, stop }
  }
}

async function drain(reader: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await reader.read()).done);
}
