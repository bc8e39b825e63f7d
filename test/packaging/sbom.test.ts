import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import packageJson from '../../package.json'
import { embedded, makeSbom } from '../../scripts/sbom.ts'

const sbom = makeSbom(await Bun.file('bun.lock').text())
/** The sources of the executable. */
const bundled = [...new Bun.Glob('src/**/*.{ts,tsx,css}').scanSync('.')].map((file) =>
  readFileSync(file, 'utf8'),
)
const refs = sbom.components.map((component) => component['bom-ref'])

describe('the list of what the executable is made of', () => {
  test('is CycloneDX, and names the release', () => {
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: { component: { name: 'counterfoil', version: packageJson.version } },
    })
  })

  test('has every dependency of ours, and those of theirs at the version they get', () => {
    for (const [name, version] of Object.entries(packageJson.dependencies)) {
      expect(refs).toContain(`pkg:npm/${name.replace(/^@/, '%40')}@${version}`)
    }
    // viem has its own, beside ours.
    expect(refs.filter((ref) => ref.startsWith('pkg:npm/%40noble/hashes@')).length).toBeGreaterThan(
      1,
    )
  })

  test('has nothing that is there for development only', () => {
    const dev = [
      '@biomejs/biome',
      '@electric-sql/pglite',
      'drizzle-kit',
      'fast-check',
      'solc',
      'typescript',
    ]
    const named = dev.map((name) => `pkg:npm/${name.replace(/^@/, '%40')}@`)
    expect(refs.filter((ref) => named.some((name) => ref.startsWith(name)))).toEqual([])
  })

  test('names each once, with a SHA-512 and only known neighbours', () => {
    expect(new Set(refs).size).toBe(refs.length)
    for (const component of sbom.components) {
      if (!('hashes' in component)) continue
      expect(component.hashes[0]).toEqual({
        alg: 'SHA-512',
        content: expect.stringMatching(/^[0-9a-f]{128}$/),
      })
    }
    const known = new Set([...refs, sbom.metadata.component['bom-ref']])
    const named = sbom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
    expect(named.filter((ref) => !known.has(ref))).toEqual([])
    expect(sbom.dependencies).toHaveLength(refs.length + 1)
  })

  test('has what is embedded while building, and Bun, each with its licence', () => {
    const licences = new Map(
      sbom.components.map(({ name, licenses = [] }) => [name, JSON.stringify(licenses)]),
    )
    expect(licences.get('geist')).toContain('OFL-1.1')
    expect(licences.get('lucide-static')).toContain('ISC')
    expect(licences.get('bun')).toContain('MIT')
    const without = sbom.components.filter(({ licenses = [] }) => licenses.length === 0)
    expect(without.map(({ name }) => name)).toEqual([])
  })

  test('leaves out no package for development that the bundle reads', () => {
    const named = Object.keys(packageJson.devDependencies).filter((name) => {
      const read = new RegExp(`node_modules/${name}/|^import (?!type)[^\n]*'${name}[/']`, 'm')
      return bundled.some((text) => read.test(text))
    })
    expect(named.filter((name) => !embedded.includes(name))).toEqual([])
  })

  test('is the same bytes from the same lock', async () => {
    expect(makeSbom(await Bun.file('bun.lock').text())).toEqual(sbom)
  })
})
