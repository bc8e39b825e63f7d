import { describe, expect, test } from 'bun:test'
import { bashCompletion, fishCompletion, zshCompletion } from '../../scripts/release/completions.ts'
import { readHelp, walk } from '../../scripts/release/help-tree.ts'
import { manPage } from '../../scripts/release/man.ts'

const tree = await readHelp()
const bash = bashCompletion(tree)

/** What bash offers for the last word of a line. */
function complete(...line: string[]): string[] {
  const words = line.map((word) => `'${word}'`).join(' ')
  const script = `${bash}
COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _counterfoil
printf '%s\\n' "\${COMPREPLY[@]}"`
  const done = Bun.spawnSync(['bash', '-uc', script])
  expect(done.stderr.toString()).toBe('')
  return done.stdout.toString().split('\n').filter(Boolean)
}

describe('the help as data', () => {
  test('has every command, with the options of each', () => {
    const paths = walk(tree).map(({ path }) => path.join(' '))
    expect(paths).toContain('serve')
    expect(paths).toContain('key create')
    expect(new Set(paths).size).toBe(paths.length)
    const key = walk(tree).find(({ path }) => path.join(' ') === 'key create')
    expect(key?.options.flatMap(({ names }) => names)).toContain('--cap')
  })
})

describe.skipIf(!Bun.which('bash'))('the completion of bash', () => {
  test('offers commands, then those below, then options', () => {
    expect(complete('counterfoil', 'ser')).toEqual(['serve'])
    expect(complete('counterfoil', 'key', 'cr')).toEqual(['create'])
    expect(complete('counterfoil', 'key', 'create', '--ca')).toContain('--cap')
    expect(complete('counterfoil', 'serve', '')).toContain('--dev')
  })

  test('offers settings only where they are asked for', () => {
    expect(complete('counterfoil', 'serve', '')).not.toContain('--base-url')
    expect(complete('counterfoil', 'serve', '--base')).toEqual(['--base-url'])
    expect(complete('counterfoil', 'verify', '--base')).toEqual([])
  })

  test('leaves files to the shell where no word fits', () => {
    expect(complete('counterfoil', 'verify', 'recei')).toEqual([])
  })
})

describe('the other completions and the manual page', () => {
  const check = (command: string[], text: string) => {
    const done = Bun.spawnSync(command, { stdin: Buffer.from(text) })
    expect(done.stderr.toString() + done.stdout.toString()).toBe('')
    expect(done.exitCode).toBe(0)
  }

  test.skipIf(!Bun.which('zsh'))('zsh reads its completion without a fault', () => {
    check(['zsh', '-n'], zshCompletion(tree))
  })

  test.skipIf(!Bun.which('fish'))('fish reads its completion without a fault', () => {
    check(['fish', '--no-execute'], fishCompletion(tree))
  })

  test.skipIf(!Bun.which('fish'))('fish offers what bash does', () => {
    const ask = (line: string) => {
      const script = `${fishCompletion(tree)}\ncomplete -C '${line}'`
      const said = Bun.spawnSync(['fish', '--no-config', '-c', script]).stdout.toString()
      return said.split('\n').map((one) => one.split('\t')[0])
    }
    expect(ask('counterfoil key cr')).toContain('create')
    expect(ask('counterfoil serve --de')).toContain('--dev')
  })

  test('name every command', () => {
    for (const { path } of walk(tree).slice(1)) {
      const place = path.map((name) => `/${name}`).join('')
      expect(zshCompletion(tree)).toContain(`'${place}')`)
      expect(fishCompletion(tree)).toContain(`__counterfoil_at "${place}"`)
      expect(manPage(tree, { version: '1', date: '2026-11-23' })).toContain(
        `.SS counterfoil ${path.join(' ').replaceAll('-', '\\-')}`,
      )
    }
  })

  test.skipIf(!Bun.which('mandoc'))('mandoc finds no fault in the manual page', () => {
    check(
      ['mandoc', '-T', 'lint', '-W', 'warning'],
      manPage(tree, { version: '1', date: '2026-11-23' }),
    )
  })
})
