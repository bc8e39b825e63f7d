/**
 * `bun scripts/sbom.ts [file]`: what the executable is made of, as CycloneDX 1.6 JSON, with
 * licences: the packages of bun.lock that are needed at run time, those whose files are embedded
 * while building, and Bun itself. Packages for development only are left out: they are not in it.
 * Licences are those that the installed packages name. The same lock gives the same bytes.
 */
import { existsSync, readFileSync } from 'node:fs'
import packageJson from '../package.json'

/** Packages for development whose files are in the executable: fonts, icons. */
export const embedded = [
  '@fontsource-variable/geist',
  '@fontsource-variable/geist-mono',
  'lucide-static',
]

/** `[name@version, registry, facts, integrity]`, as bun.lock has it. */
type Locked = [id: string, registry: string, facts: Facts, integrity: string]
type Facts = {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalPeers?: string[]
}

export type Sbom = ReturnType<typeof makeSbom>

/** What is in the executable, of the text of a lock file. */
export function makeSbom(lockText: string) {
  // The lock file is JSON with trailing commas.
  const { packages } = JSON.parse(lockText.replace(/,(\s*[}\]])/g, '$1')) as {
    packages: Record<string, Locked>
  }
  const found = new Map<string, Place>()
  const visit = (path: string): string | undefined => {
    const locked = packages[path]
    if (!locked) return undefined
    const ref = purlOf(locked[0])
    if (found.has(path)) return ref
    const needs = new Set<string>()
    found.set(path, { path, locked, needs })
    const { dependencies, optionalDependencies, peerDependencies, optionalPeers } = locked[2]
    const named = { ...dependencies, ...optionalDependencies, ...peerDependencies }
    for (const name of Object.keys(named)) {
      // A compiler that a package wants beside it is not a part of what it compiles.
      const isOfUse = !(name in packageJson.devDependencies) || embedded.includes(name)
      if (optionalPeers?.includes(name) || !isOfUse) continue
      const need = visit(resolve(packages, path, name))
      if (need) needs.add(need)
    }
    return ref
  }
  const own = [...Object.keys(packageJson.dependencies), ...embedded].flatMap(
    (name) => visit(name) ?? [],
  )
  const root = purlOf(`${packageJson.name}@${packageJson.version}`)
  const merged = mergeByRef([...found.values()])
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX' as const,
    specVersion: '1.6' as const,
    version: 1,
    metadata: {
      component: {
        type: 'application' as const,
        'bom-ref': root,
        name: packageJson.name,
        version: packageJson.version,
        licenses: [{ license: { id: packageJson.license } }],
        purl: root,
      },
    },
    components: [...merged.map((one) => componentOf(one)), bun],
    dependencies: [
      { ref: root, dependsOn: [...new Set([...own, bun['bom-ref']])].sort() },
      { ref: bun['bom-ref'], dependsOn: [] },
      ...merged.map(({ ref, needs }) => ({ ref, dependsOn: [...needs].sort() })),
    ],
  }
}

/** Where a package's dependency stands in the lock: under it, under what it is under, or on top. */
function resolve(packages: Record<string, Locked>, path: string, name: string): string {
  for (let at = path; at !== ''; at = parentOf(at)) {
    if (`${at}/${name}` in packages) return `${at}/${name}`
  }
  return name
}

/** The path without its last name, which has two parts where it begins with a scope. */
const parentOf = (path: string): string => path.replace(/(^|\/)(@[^/]+\/)?[^/]+$/, '')

type Place = { path: string; locked: Locked; needs: Set<string> }
type Component = Place & { ref: string }

/** The same version at two places of the lock is one component. */
function mergeByRef(all: Place[]): Component[] {
  const merged = new Map<string, Component>()
  for (const { path, locked, needs } of all) {
    const ref = purlOf(locked[0])
    const known = merged.get(ref)
    merged.set(ref, { path, ref, locked, needs: new Set([...(known?.needs ?? []), ...needs]) })
  }
  return [...merged.values()].sort((a, b) => (a.ref < b.ref ? -1 : 1))
}

function componentOf({ path, ref, locked: [id, , , integrity] }: Component) {
  const at = id.lastIndexOf('@')
  const full = id.slice(0, at)
  const [group, name] = full.startsWith('@') ? full.split('/') : [undefined, full]
  const hash = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
  const licence = licenceOf(path)
  return {
    type: 'library' as const,
    'bom-ref': ref,
    ...(group ? { group } : {}),
    name: name ?? full,
    version: id.slice(at + 1),
    hashes: [{ alg: 'SHA-512' as const, content: hash }],
    ...(licence === undefined ? {} : { licenses: [licence] }),
    purl: ref,
  }
}

/** The runtime of the bundle, which is the larger part of the executable. */
const bun = {
  type: 'framework' as const,
  'bom-ref': `pkg:generic/bun@${Bun.version}`,
  name: 'bun',
  version: Bun.version,
  licenses: [{ license: { id: 'MIT' } }],
  purl: `pkg:generic/bun@${Bun.version}`,
}

/** `viem/@noble/hashes` as the names of the packages on the way. */
const namesIn = (path: string): string[] => path.match(/(@[^/]+\/)?[^/]+/g) ?? []

/** The licence that an installed package names; undefined where it is not installed here. */
function licenceOf(path: string) {
  const at = `node_modules/${namesIn(path).join('/node_modules/')}/package.json`
  if (!existsSync(at)) return undefined
  const { license, licenses } = JSON.parse(readFileSync(at, 'utf8'))
  const named = license ?? licenses?.[0]
  const text = typeof named === 'string' ? named : named?.type
  if (typeof text !== 'string') return undefined
  return / (OR|AND|WITH) |^SEE /.test(text) ? { expression: text } : { license: { id: text } }
}

/** A package URL (purl-spec, type npm): the scope's at sign is escaped. */
const purlOf = (id: string): string => `pkg:npm/${id.replace(/^@/, '%40')}`

if (import.meta.main) {
  const text = `${JSON.stringify(makeSbom(await Bun.file('bun.lock').text()), null, 2)}\n`
  const [, , file] = Bun.argv
  if (file) await Bun.write(file, text)
  else process.stdout.write(text)
}
