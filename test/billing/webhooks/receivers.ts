/** Starts receivers, each a process of its own, and reads what they took. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Message = { path: string; id: string; verified: boolean; body: string }

/** `stop` ends all of them and deletes what they wrote. */
export function receivers() {
  const folder = mkdtempSync(join(tmpdir(), 'receiver-'))
  const started: Bun.Subprocess[] = []
  return {
    async receive(secret: string) {
      const file = join(folder, `${started.length}.jsonl`)
      const script = join(import.meta.dir, 'receiver.ts')
      const child = Bun.spawn([process.execPath, script, secret, file], { stdout: 'pipe' })
      started.push(child)
      const { value } = await child.stdout.getReader().read()
      const messages = (): Message[] =>
        existsSync(file)
          ? readFileSync(file, 'utf8')
              .split('\n')
              .filter(Boolean)
              .map((line) => JSON.parse(line))
          : []
      return { origin: `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`, messages }
    },
    stop(): void {
      for (const child of started) child.kill()
      rmSync(folder, { recursive: true })
    },
  }
}
