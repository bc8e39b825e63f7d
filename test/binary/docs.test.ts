import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binary, noBinary } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { makeMachine, onMachine } from './machine.ts'

const withinMs = 120_000

/** The fenced blocks of a page that follow a marker, as they stand there. */
async function blocksOf(page: string, marker: string): Promise<string[]> {
  const [, ...after] = (await Bun.file(page).text()).split(`<!-- ci: ${marker} -->\n\`\`\`sh\n`)
  if (after.length === 0) throw new Error(`${page} has no block marked "ci: ${marker}"`)
  return after.map((rest) => rest.split('\n```')[0] ?? '')
}

const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-docs-'))
  folders.push(folder)
  return folder
}

/** Types what a page says, until the first line that fails, and ends what it leaves running. */
async function type(text: string, cwd: string, env: Record<string, string>, atEnd = 'true') {
  const end =
    `trap 'status=$?; ${atEnd}; ` +
    "kill $(jobs -p) 2>/dev/null && wait || true; exit $status' EXIT"
  const [stdout, stderr] = [join(env['HOME'] ?? '', 'stdout'), join(env['HOME'] ?? '', 'stderr')]
  const child = Bun.spawn(['bash', '-c', `set -euo pipefail\n${end}\n${text}`], {
    cwd,
    env: { ...env, PATH: `${env['PATH']}:${process.env['PATH']}` },
    stdin: 'ignore',
    stdout: Bun.file(stdout),
    stderr: Bun.file(stderr),
    timeout: withinMs,
  })
  await child.exited
  const said = (await Bun.file(stdout).text()).trim().split('\n')
  return { code: child.exitCode, said, words: await Bun.file(stderr).text() }
}

describe.skipIf(noBinary)('docs/backup.md', () => {
  test(
    'the restore drill goes through as it stands there',
    async () => {
      const folder = await emptyFolder()
      mkdirSync(join(folder, 'bin'))
      mkdirSync(join(folder, 'here'))
      symlinkSync(binary, join(folder, 'bin', 'counterfoil'))
      const [block = ''] = await blocksOf('docs/backup.md', 'restore drill')
      const { code, said, words } = await type(block, join(folder, 'here'), {
        PATH: join(folder, 'bin'),
        HOME: folder,
        COUNTERFOIL_LISTEN: `127.0.0.1:${freePort()}`,
      })
      expect([code, said.at(-1), words]).toEqual([
        0,
        'the drill went through',
        expect.stringContaining('0 to repair'),
      ])
    },
    withinMs * 2,
  )
})

describe.skipIf(noBinary)('docs/tutorial.md', () => {
  test(
    'the first hour goes through as it stands there, up to the refusal at the end',
    async () => {
      const folder = await emptyFolder()
      mkdirSync(join(folder, 'bin'))
      mkdirSync(join(folder, 'here'))
      symlinkSync(binary, join(folder, 'bin', 'counterfoil'))
      symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'here', 'node_modules'))
      const port = String(freePort())
      const blocks = await blocksOf('docs/tutorial.md', 'tutorial')
      const text = blocks.join('\n').replaceAll('localhost:4663', `localhost:${port}`)
      const { code, said } = await type(text, join(folder, 'here'), {
        PATH: join(folder, 'bin'),
        HOME: folder,
        COUNTERFOIL_LISTEN: `127.0.0.1:${port}`,
      })
      expect(code).toBe(0)
      expect(said).toContain('Every run leaves a receipt. 250000 nano-USD')
      expect(said).toContainEqual(expect.stringMatching(/^Signed and logged\. Signed by 0x/))
      expect(said.at(-1)).toContain('"type":"cap_exceeded"')
    },
    withinMs,
  )
})

describe.skipIf(noBinary)(
  'the life of a service in docs/install.md, backup.md and operate.md',
  () => {
    test(
      'Install, backup, restore, upgrade and rotation go through as the pages say.',
      async () => {
        const root = await emptyFolder()
        const blocks = [
          ...(await blocksOf('docs/install.md', 'service')),
          ...(await blocksOf('docs/backup.md', 'service backup')),
          ...(await blocksOf('docs/install.md', 'service upgrade')),
          ...(await blocksOf('docs/operate.md', 'service keys')),
        ]
        const { env, project } = makeMachine(root, binary)
        env['COUNTERFOIL_LISTEN'] = `127.0.0.1:${freePort()}`
        const text = onMachine(root, blocks.join('\n'))
        const { code, said, words } = await type(text, project, env, 'systemctl stop counterfoil')
        expect([code, words]).toEqual([0, expect.stringContaining('0 to repair')])
        // What `signer show` prints last: the first key to an index, and its successor from there.
        expect(said.slice(-2)).toEqual([
          expect.stringMatching(/^0x\w{40} {2}0…\d+ .*$/),
          expect.stringMatching(/^0x\w{40} {2}\d+… .*yearly$/),
        ])
      },
      withinMs * 2,
    )
  },
)
