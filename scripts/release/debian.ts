/**
 * The Debian package: the executable with its service, manual page and completions, by dpkg-deb.
 * The service starts at once: its configuration, which sets nothing, listens on loopback.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json'
import { exampleFile } from '../../src/config/example.ts'
import type { Platform } from '../build.ts'
import { makeSbom } from '../sbom.ts'
import { bashCompletion, fishCompletion, zshCompletion } from './completions.ts'
import { readHelp } from './help-tree.ts'
import { manPage } from './man.ts'
import { compareBytes } from './order.ts'

/** What a package is made with. `mtime` is in seconds since 1970. */
export type Making = { version: string; mtime: number; maintainer: string }

type File = { mode: number; body: string | Uint8Array }

const architectures: Partial<Record<Platform, string>> = {
  'linux-x64': 'amd64',
  'linux-arm64': 'arm64',
}

export const architectureOf = (platform: Platform): string | undefined => architectures[platform]

/** The first package of a version; Debian counts those that change nothing but the packaging. */
export const debianVersion = (version: string): string => `${version.replace('-', '~')}-1`

/**
 * Writes the package into a folder and returns its name.
 * @throws Error when dpkg-deb is missing or refuses
 */
export async function writeDebian(
  making: Making,
  platform: Platform,
  executable: string,
  folder: string,
): Promise<string> {
  const architecture = architectureOf(platform)
  if (!architecture) throw new Error(`Debian has no architecture for ${platform}`)
  if (!Bun.which('dpkg-deb')) throw new Error('dpkg-deb is missing')
  const name = `counterfoil_${debianVersion(making.version)}_${architecture}.deb`
  const stage = mkdtempSync(join(tmpdir(), 'counterfoil-deb-'))
  try {
    const files = await filesOf(making, executable)
    const control = await controlFiles(making, architecture, files)
    const all = [...files, ...[...control].map(([path, file]) => [`DEBIAN/${path}`, file] as const)]
    for (const [path, { mode, body }] of all) {
      await Bun.write(join(stage, path), body)
      chmodSync(join(stage, path), mode)
    }
    await mkdir(folder, { recursive: true })
    setFolderModes(stage)
    const pack = [
      'dpkg-deb',
      '--root-owner-group',
      '-Zxz',
      '-z1',
      '--build',
      stage,
      join(folder, name),
    ]
    const done = Bun.spawnSync(pack, {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(making.mtime) },
    })
    if (done.exitCode !== 0) throw new Error(`dpkg-deb: ${done.stderr.toString().trim()}`)
    return name
  } finally {
    rmSync(stage, { recursive: true })
  }
}

/** Folders are 0755, whatever the umask of this process is. */
function setFolderModes(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) setFolderModes(join(folder, entry.name))
  }
}

/** The files that are installed, by their path without the first slash. */
async function filesOf(making: Making, executable: string): Promise<Map<string, File>> {
  const { version, mtime } = making
  const tree = await readHelp()
  const date = new Date(mtime * 1000).toISOString().slice(0, 10)
  const source = (path: string) => Bun.file(path).text()
  const sbom = JSON.stringify(makeSbom(await source('bun.lock')), null, 2)
  const doc = 'usr/share/doc/counterfoil'
  const texts: [path: string, text: string, mode?: number][] = [
    ['usr/sbin/cf', atItsPlace(await source('packaging/cf')), 0o755],
    ['etc/counterfoil/counterfoil.toml', exampleFile(), 0o640],
    ['usr/share/bash-completion/completions/counterfoil', bashCompletion(tree)],
    ['usr/share/zsh/vendor-completions/_counterfoil', zshCompletion(tree)],
    ['usr/share/fish/vendor_completions.d/counterfoil.fish', fishCompletion(tree)],
    ['usr/share/lintian/overrides/counterfoil', await source('packaging/debian/overrides')],
    [`${doc}/prometheus-alerts.yml`, await source('packaging/prometheus-alerts.yml')],
    [`${doc}/copyright`, copyright(await source('LICENSE'))],
    [`${doc}/counterfoil.cdx.json`, `${sbom}\n`],
  ]
  for (const unit of [
    'counterfoil.service',
    'counterfoil-backup.service',
    'counterfoil-backup.timer',
  ]) {
    texts.push([`lib/systemd/system/${unit}`, atItsPlace(await source(`packaging/${unit}`))])
  }
  const packed: [path: string, text: string][] = [
    ['usr/share/man/man1/counterfoil.1.gz', manPage(tree, { version, date })],
    ['usr/share/man/man8/cf.8.gz', await source('packaging/debian/cf.8')],
    [`${doc}/changelog.gz`, await source('CHANGELOG.md')],
    [`${doc}/changelog.Debian.gz`, changelogOf(making)],
  ]
  return new Map<string, File>([
    ['usr/bin/counterfoil', { mode: 0o755, body: await Bun.file(executable).bytes() }],
    ...texts.map(([path, body, mode = 0o644]) => [path, { mode, body }] as const),
    ...packed.map(([path, text]) => {
      const body = Bun.gzipSync(new TextEncoder().encode(text), { level: 9, library: 'zlib' })
      return [path, { mode: 0o644, body }] as const
    }),
  ])
}

/** The paths of a package: those of `packaging/` are for an installation by hand. */
const atItsPlace = (text: string): string =>
  text.replaceAll('/usr/local/bin/counterfoil', '/usr/bin/counterfoil')

async function controlFiles(
  { version, maintainer }: Making,
  architecture: string,
  files: Map<string, File>,
): Promise<Map<string, File>> {
  const script = async (name: string): Promise<[string, File]> => [
    name,
    { mode: 0o755, body: await Bun.file(`packaging/debian/${name}`).text() },
  ]
  const bytes = [...files.values()].reduce((sum, { body }) => sum + body.length, 0)
  return new Map<string, File>([
    ['control', { mode: 0o644, body: controlOf({ version, maintainer, architecture, bytes }) }],
    ['conffiles', { mode: 0o644, body: '/etc/counterfoil/counterfoil.toml\n' }],
    ['md5sums', { mode: 0o644, body: md5sumsOf(files) }],
    await script('postinst'),
    await script('prerm'),
    await script('postrm'),
  ])
}

export const controlOf = (facts: {
  version: string
  maintainer: string
  architecture: string
  bytes: number
}): string => `Package: counterfoil
Version: ${debianVersion(facts.version)}
Architecture: ${facts.architecture}
Maintainer: ${facts.maintainer}
Installed-Size: ${Math.ceil(facts.bytes / 1024)}
Pre-Depends: init-system-helpers (>= 1.54~)
Depends: adduser, libc6 (>= 2.17), libgcc-s1, libstdc++6
Suggests: postgresql-client
Section: net
Priority: optional
Description: prepaid, verifiable gateway to AI models
 Counterfoil serves AI models to clients that paid in advance. A run reserves
 the most it can cost before the model is called, and leaves a signed receipt
 in an append-only log that anyone can check offline.
 .
 The service listens on 127.0.0.1:4663 until /etc/counterfoil/counterfoil.toml
 says otherwise.
`

/** The sums that `dpkg --verify` compares; configuration files have their own. */
function md5sumsOf(files: Map<string, File>): string {
  const names = [...files.keys()].filter((path) => !path.startsWith('etc/')).sort(compareBytes)
  return names
    .map((path) => {
      const sum = new Bun.CryptoHasher('md5').update(files.get(path)?.body ?? '').digest('hex')
      return `${sum}  ${path}\n`
    })
    .join('')
}

const changelogOf = ({ version, mtime, maintainer }: Making): string =>
  `counterfoil (${debianVersion(version)}) unstable; urgency=medium

  * Release ${version}; changelog.gz says what is in it.

 -- ${maintainer}  ${new Date(mtime * 1000).toUTCString().replace('GMT', '+0000')}
`

const copyright = (
  license: string,
): string => `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ${packageJson.name}
Comment: counterfoil.cdx.json lists the packages in the executable.

Files: *
Copyright: ${/Copyright \(c\) (.+)/i.exec(license)?.[1] ?? 'the authors of Counterfoil'}
License: Expat
${license
  .slice(license.indexOf('Permission'))
  .trim()
  .split('\n')
  .map((text) => ` ${text.trim() || '.'}`)
  .join('\n')}
`
