import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { type Numbered, schemaOf } from './schema.ts'

/** A copy of the checkout, so that mutants never touch the files that people work on. */
export type Copy = { root: string; remove(): void }

const parts = [
  ...['src', 'test', 'scripts', 'drills', 'bench', 'mutation'],
  ...['drizzle', 'public', 'docs', 'reports', 'contracts', 'packaging'],
]
const files = ['package.json', 'tsconfig.json', 'bunfig.toml', 'README.md']

export async function makeCopy(checkout: string): Promise<Copy> {
  const root = mkdtempSync(join(tmpdir(), 'counterfoil-mutants-'))
  for (const part of [...parts, ...files]) {
    cpSync(join(checkout, part), join(root, part), { recursive: true })
  }
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'))
  mkdirSync(join(root, 'tmp'))
  await freezeAssets(root)
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/** The browser's scripts are bundled once, not at the start of every process. */
async function freezeAssets(root: string): Promise<void> {
  const path = join(root, 'src/web/http/assets.macro.ts')
  const made: { embedAssets(): unknown } = await import(path)
  const list = JSON.stringify(made.embedAssets())
  await Bun.write(path, `const list = ${list}\nexport const embedAssets = () => list\n`)
}

/** Puts all mutants into the copy, each switched off, and gives its tests to our own runner. */
export async function plant(root: string, mutants: readonly Numbered[]): Promise<void> {
  for (const [file, here] of Map.groupBy(mutants, (mutant) => mutant.file)) {
    const path = join(root, file)
    await Bun.write(path, schemaOf(await Bun.file(path).text(), here))
  }
  const shim = join(root, 'mutation/shim.ts')
  for (const file of new Glob('test/**/*.{ts,tsx}').scanSync(root)) {
    const path = join(root, file)
    const text = await Bun.file(path).text()
    await Bun.write(path, text.replace(/from 'bun:test'/, `from '${shim}'`))
  }
}
