import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binary, noBinary } from '../support/binary.ts'

const withinMs = 120_000

/** The fenced block of a page that follows a marker, as it stands there. */
async function blockOf(page: string, marker: string): Promise<string> {
  const [, rest = ''] = (await Bun.file(page).text()).split(`<!-- ci: ${marker} -->\n\`\`\`sh\n`)
  const [block = ''] = rest.split('\n```')
  if (block === '') throw new Error(`${page} has no block marked "ci: ${marker}"`)
  return block
}

function freePort(): number {
  const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const port = probe.port ?? 0
  probe.stop(true)
  return port
}

describe.skipIf(noBinary)('docs/operate.md', () => {
  const folders: string[] = []
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  })

  test(
    'the restore drill goes through as it stands there',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'counterfoil-docs-'))
      folders.push(folder)
      mkdirSync(join(folder, 'bin'))
      mkdirSync(join(folder, 'here'))
      symlinkSync(binary, join(folder, 'bin', 'counterfoil'))
      const block = await blockOf('docs/operate.md', 'restore drill')
      // Ends what the block leaves running, and stops at the first line that fails.
      const end = "trap 'status=$?; kill $(jobs -p) 2>/dev/null && wait || true; exit $status' EXIT"
      const child = Bun.spawn(['bash', '-c', `set -euo pipefail\n${end}\n${block}`], {
        cwd: join(folder, 'here'),
        env: {
          PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
          HOME: folder,
          COUNTERFOIL_LISTEN: `127.0.0.1:${freePort()}`,
        },
        stdin: 'ignore',
        stdout: Bun.file(join(folder, 'stdout')),
        stderr: Bun.file(join(folder, 'stderr')),
        timeout: withinMs,
      })
      await child.exited
      const said = await Bun.file(join(folder, 'stdout')).text()
      const words = await Bun.file(join(folder, 'stderr')).text()
      expect([child.exitCode, said.trim().split('\n').at(-1), words]).toEqual([
        0,
        'the drill went through',
        expect.stringContaining('0 to repair'),
      ])
    },
    withinMs * 2,
  )
})
