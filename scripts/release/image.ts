/**
 * The image: an OCI layout of one layer, made of the executable and of files that Debian's packages
 * installed on this machine. Nothing is pulled, and there is no shell in it. `bun
 * scripts/release/image.ts <folder> [executable]` writes the files alone, for the Dockerfile.
 */
import { chmodSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeSbom } from '../sbom.ts'
import { compareBytes } from './order.ts'
import { type Entry, foldersOf, tarGzOf, tarOf } from './tar.ts'

/** Of Debian: the C library, and those of C++ and GCC for the native curve. */
const packages = ['libc6', 'libgcc-s1', 'libstdc++6', 'ca-certificates'] as const
/** What the executable and the native curve load, and what glibc resolves names with. */
const libraries =
  /\/(ld-linux-.*\.so\.\d|lib(c|m|dl|pthread|resolv|nss_dns|nss_files|gcc_s|stdc\+\+)\.so\.\d+)$/
const certificates = '/usr/share/ca-certificates/mozilla'
/** Who the server is: no root, and no name that another image gives rights to. */
const user = 65532

export const imageName = 'counterfoil'
const text = (words: string): Uint8Array => new TextEncoder().encode(words)

/**
 * The files of the image, as entries of an archive.
 * @throws Error when a package is missing, or its files are not those that Debian gave
 */
export async function rootOf(executable: string): Promise<Entry[]> {
  const files: Entry[] = [
    { path: 'usr/local/bin/counterfoil', mode: 0o755, body: await Bun.file(executable).bytes() },
    {
      path: 'usr/share/doc/counterfoil/LICENSE',
      mode: 0o644,
      body: await Bun.file('LICENSE').bytes(),
    },
    { path: 'etc/ssl/certs/ca-certificates.crt', mode: 0o644, body: await bundleOf(certificates) },
    {
      path: 'etc/passwd',
      mode: 0o644,
      body: text(`nonroot:x:${user}:${user}::/data:/nonexistent\n`),
    },
    { path: 'etc/group', mode: 0o644, body: text(`nonroot:x:${user}:\n`) },
    {
      path: 'etc/nsswitch.conf',
      mode: 0o644,
      body: text('passwd: files\ngroup: files\nhosts: files dns\n'),
    },
    {
      path: 'usr/share/doc/counterfoil/counterfoil.cdx.json',
      mode: 0o644,
      body: text(`${JSON.stringify(makeSbom(await Bun.file('bun.lock').text()), null, 2)}\n`),
    },
    { path: 'data/', mode: 0o700, uid: user, gid: user },
    { path: 'tmp/', mode: 0o1777 },
    // Where runtimes mount: a read-only root cannot get folders later.
    ...['proc/', 'dev/', 'sys/'].map((path) => ({ path, mode: 0o755 })),
  ]
  for (const file of librariesHere()) {
    const path = file.slice(1)
    files.push({ path, mode: 0o755, body: await Bun.file(realpathSync(file)).bytes() })
  }
  const folders = files.flatMap(({ path }) => foldersOf(path.replace(/\/$/, '')))
  return [...new Map([...folders, ...files].map((entry) => [entry.path, entry])).values()]
}

/** The libraries of the packages, by the name that a loader looks for. */
function librariesHere(): string[] {
  // A slim system lacks documentation, which --verify names too.
  const isTaken = (file: string) => libraries.test(file) || file.startsWith(certificates)
  const differing = run('dpkg', '--verify', ...packages).split('\n')
  const changed = differing.find((line) => isTaken(line.split(' ').at(-1) ?? ''))
  if (changed) throw new Error(`a file differs from that of Debian: ${changed}`)
  return run('dpkg', '--listfiles', ...packages)
    .split('\n')
    .filter((file) => libraries.test(file))
    .sort(compareBytes)
}

/** All certificates of a folder in one file, without those that a machine added for itself. */
async function bundleOf(folder: string): Promise<Uint8Array> {
  const names = readdirSync(folder).sort(compareBytes)
  const all = await Promise.all(names.map((name) => Bun.file(join(folder, name)).text()))
  return text(all.map((one) => `${one.trim()}\n`).join(''))
}

function run(...command: string[]): string {
  const done = Bun.spawnSync(command, { stderr: 'pipe' })
  // dpkg --verify ends with 1 when it names files.
  if (done.exitCode !== 0 && done.stdout.length === 0) {
    throw new Error(`${command.join(' ')}: ${done.stderr.toString().trim()}`)
  }
  return done.stdout.toString()
}

export type Facts = { version: string; commit: string; mtime: number; architecture: string }

const sha256 = (bytes: Uint8Array): string =>
  new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

/** What a runtime does with the image unless it is told otherwise; the Dockerfile says the same. */
export const runConfig = {
  User: `${user}:${user}`,
  ExposedPorts: { '4663/tcp': {} },
  Env: [
    'BUN_CONFIG_MAX_HTTP_REQUESTS=65535',
    'PATH=/usr/local/bin',
    'COUNTERFOIL_LISTEN=0.0.0.0:4663',
    'COUNTERFOIL_DATA=/data',
    'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
  ],
  Entrypoint: ['/usr/local/bin/counterfoil'],
  Cmd: ['serve'],
  Volumes: { '/data': {} },
  WorkingDir: '/data',
  StopSignal: 'SIGTERM',
  // In nanoseconds. Docker reads it; OCI has no such field and ignores it.
  Healthcheck: {
    Test: ['CMD', '/usr/local/bin/counterfoil', 'healthcheck'],
    Interval: 15e9,
    Timeout: 6e9,
    StartPeriod: 60e9,
  },
}

/** An OCI layout that `docker load` reads too. The same entries give the same bytes. */
export function layoutOf(root: readonly Entry[], facts: Facts): Map<string, Uint8Array> {
  const { version, commit, mtime, architecture } = facts
  const layer = tarGzOf(root, mtime)
  const created = new Date(mtime * 1000).toISOString()
  const config = json({
    created,
    architecture,
    os: 'linux',
    config: {
      ...runConfig,
      Labels: {
        'org.opencontainers.image.title': imageName,
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': commit,
        'org.opencontainers.image.licenses': 'MIT',
      },
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(tarOf(root, mtime))}`] },
    history: [{ created, created_by: 'bun run release' }],
  })
  const oci = 'application/vnd.oci.image'
  const manifest = json({
    schemaVersion: 2,
    mediaType: `${oci}.manifest.v1+json`,
    config: descriptorOf(`${oci}.config.v1+json`, config),
    layers: [descriptorOf(`${oci}.layer.v1.tar+gzip`, layer)],
  })
  const index = json({
    schemaVersion: 2,
    mediaType: `${oci}.index.v1+json`,
    manifests: [
      {
        ...descriptorOf(`${oci}.manifest.v1+json`, manifest),
        annotations: { 'org.opencontainers.image.ref.name': version },
        platform: { architecture, os: 'linux' },
      },
    ],
  })
  const blob = (bytes: Uint8Array) => `blobs/sha256/${sha256(bytes)}`
  const docker = [
    { Config: blob(config), RepoTags: [`${imageName}:${version}`], Layers: [blob(layer)] },
  ]
  return new Map([
    ['oci-layout', json({ imageLayoutVersion: '1.0.0' })],
    ['index.json', index],
    ['manifest.json', json(docker)],
    [blob(config), config],
    [blob(manifest), manifest],
    [blob(layer), layer],
  ])
}

const json = (value: unknown): Uint8Array => text(JSON.stringify(value))
const descriptorOf = (mediaType: string, bytes: Uint8Array) => ({
  mediaType,
  digest: `sha256:${sha256(bytes)}`,
  size: bytes.length,
})

/** Writes the image of this machine's architecture into a folder, as one archive; its name. */
export async function writeImage(executable: string, facts: Facts, folder: string) {
  const layout = layoutOf(await rootOf(executable), facts)
  const name = `${imageName}-${facts.version}-${facts.architecture}.oci.tar`
  const files = [...layout].map(([path, body]) => ({ path, mode: 0o644, body }))
  const folders = files.flatMap(({ path }) => foldersOf(path))
  const all = new Map<string, Entry>([...folders, ...files].map((entry) => [entry.path, entry]))
  await Bun.write(join(folder, name), tarOf([...all.values()], facts.mtime))
  return name
}

/** Writes the files of the image into a folder; owners are left to the Dockerfile. */
export async function writeRoot(folder: string, executable: string): Promise<void> {
  for (const { path, mode, body } of await rootOf(executable)) {
    const at = join(folder, path)
    mkdirSync(path.endsWith('/') ? at : dirname(at), { recursive: true })
    if (body) await Bun.write(at, body)
    chmodSync(at, mode)
  }
}

if (import.meta.main) {
  const [, , folder, executable = 'dist/counterfoil'] = Bun.argv
  if (folder) await writeRoot(folder, executable)
  else console.error('image.ts <folder> [executable]')
}
