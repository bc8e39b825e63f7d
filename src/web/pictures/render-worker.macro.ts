/** Bundles the renderer's thread while Bun transpiles: an executable starts it from this text. */
import { join } from 'node:path'

/** The script of the thread. `Bun.build` would deadlock inside of a macro. */
export function embedRenderWorker(): string {
  const entry = join(import.meta.dir, 'render-worker.ts')
  const flags = ['--target=bun', '--format=esm', '--minify']
  const built = Bun.spawnSync([process.execPath, 'build', entry, ...flags])
  if (!built.success) throw new Error(built.stderr.toString())
  return built.stdout.toString()
}
