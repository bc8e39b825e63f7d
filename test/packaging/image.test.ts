import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { layoutOf, rootOf, runConfig, writeImage } from '../../scripts/release/image.ts'
import { promise } from '../support/promise.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-image-'))
afterAll(() => rmSync(folder, { recursive: true }))

const facts = { version: '1.2.3', commit: 'c0ffee', mtime: 1_700_000_000, architecture: 'amd64' }
const body = new TextEncoder().encode('program')
const root = [
  { path: 'data/', mode: 0o700, uid: 65532, gid: 65532 },
  { path: 'counterfoil', mode: 0o755, body },
]
const hash = (bytes: Uint8Array) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
const read = (bytes: Uint8Array | undefined) => JSON.parse(new TextDecoder().decode(bytes))

describe('the layout of an image', () => {
  const layout = layoutOf(root, facts)

  test('has every blob under its own digest, and names no other', () => {
    const blobs = [...layout].filter(([path]) => path.startsWith('blobs/'))
    for (const [path, bytes] of blobs) expect(path).toBe(`blobs/sha256/${hash(bytes)}`)
    const at = (digest: string) => layout.get(`blobs/${digest.replace(':', '/')}`)
    const [named] = read(layout.get('index.json')).manifests
    const manifest = read(at(named.digest))
    const config = read(at(manifest.config.digest))
    const layer = at(manifest.layers[0].digest)
    expect(layer).toHaveLength(manifest.layers[0].size)
    const unpacked = Bun.gunzipSync(new Uint8Array(layer ?? []))
    expect(config.rootfs.diff_ids).toEqual([`sha256:${hash(unpacked)}`])
    const [docker] = read(layout.get('manifest.json'))
    expect(layout.has(docker.Config) && layout.has(docker.Layers[0])).toBe(true)
    expect(blobs).toHaveLength(3)
  })

  test('is the same bytes from the same files in any order', () => {
    expect(layoutOf([...root].reverse(), facts)).toEqual(layout)
  })

  promise`L15`
  test('runs as what the Dockerfile says, and never as root', () => {
    const lines = readFileSync('Dockerfile', 'utf8').split('\n')
    expect(lines).toContain(`USER ${runConfig.User}`)
    expect(lines).toContain(`ENTRYPOINT ${JSON.stringify(runConfig.Entrypoint)}`)
    expect(lines).toContain(`CMD ${JSON.stringify(runConfig.Cmd)}`)
    expect(lines).toContain(`STOPSIGNAL ${runConfig.StopSignal}`)
    const variables = lines.filter((line) => line.startsWith('ENV ')).join(' ')
    for (const one of runConfig.Env) expect(variables).toContain(one)
  })
})

const noDebian = !Bun.which('dpkg') || !(await Bun.file('/var/lib/dpkg/status').exists())
describe.skipIf(noDebian || process.platform !== 'linux')('the files of an image', () => {
  promise`L15 H: The image has no shell, and its server is not root.`
  test('are the executable, libraries and certificates: no shell, no setuid file', async () => {
    const paths = (await rootOf('/bin/true')).map(({ path }) => path)
    expect(paths).toContain('usr/local/bin/counterfoil')
    expect(paths.filter((path) => path.endsWith('/libc.so.6'))).toHaveLength(1)
    expect(paths.filter((path) => path.includes('libstdc++'))).toHaveLength(1)
    expect(paths.filter((path) => /bin\/[^/]+$/.test(path))).toEqual(['usr/local/bin/counterfoil'])
    const modes = (await rootOf('/bin/true')).map(({ mode }) => mode & 0o6000)
    expect(modes.filter((mode) => mode !== 0)).toEqual([])
  })

  test.skipIf(!Bun.which('skopeo'))(
    'are read by skopeo as an OCI image and as one of Docker',
    async () => {
      const name = await writeImage('/bin/true', facts, folder)
      for (const kind of ['oci-archive', 'docker-archive']) {
        const done = Bun.spawnSync(['skopeo', 'inspect', `${kind}:${join(folder, name)}`])
        expect(done.stderr.toString()).toBe('')
        expect(read(done.stdout).Labels['org.opencontainers.image.version']).toBe('1.2.3')
      }
    },
  )
})
