import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../../scripts/release/npm.ts'

/** A registry of npm on loopback with the `.tgz` files of a folder, until `stop`. */
export async function serveRegistry(folder: string): Promise<{ origin: string; stop(): void }> {
  const packages = new Map<string, { manifest: Manifest; file: string; integrity: string }>()
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.tgz'))) {
    const file = join(folder, name)
    const read = Bun.spawnSync(['tar', '-xOzf', file, 'package/package.json']).stdout.toString()
    const manifest = JSON.parse(read) as Manifest
    const digest = createHash('sha512').update(await Bun.file(file).bytes())
    packages.set(manifest.name, { manifest, file, integrity: `sha512-${digest.digest('base64')}` })
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const path = decodeURIComponent(new URL(request.url).pathname.slice(1))
      const isTarball = path.endsWith('.tgz')
      const found = packages.get(isTarball ? path.slice(0, -'.tgz'.length) : path)
      if (!found) return new Response('{"error":"not found"}', { status: 404 })
      if (isTarball) return new Response(Bun.file(found.file))
      const { manifest, integrity } = found
      const tarball = `${new URL(request.url).origin}/${manifest.name}.tgz`
      return Response.json({
        name: manifest.name,
        'dist-tags': { latest: manifest.version },
        versions: { [manifest.version]: { ...manifest, dist: { tarball, integrity } } },
      })
    },
  })
  return { origin: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) }
}
