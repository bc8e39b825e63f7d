import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertOwnVersion } from '../../scripts/release/own-version.ts'

describe('the version of a release', () => {
  let folder: string
  const git = (...args: string[]): string => {
    const as = ['-c', 'user.name=a', '-c', 'user.email=a@b.example', '-c', 'commit.gpgsign=false']
    const done = Bun.spawnSync(['git', ...as, ...args], { cwd: folder })
    if (done.exitCode !== 0) throw new Error(done.stderr.toString())
    return done.stdout.toString().trim()
  }
  const commit = (): string => {
    git('commit', '--allow-empty', '-m', 'a change')
    return git('rev-parse', 'HEAD')
  }
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-version-'))
    git('init', '-q')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is free, or that of this very commit; one that another commit has is refused', () => {
    const first = commit()
    assertOwnVersion('1.2.3', first, git)
    git('tag', '-a', 'v1.2.3', '-m', 'a release')
    assertOwnVersion('1.2.3', first, git)
    const second = commit()
    expect(() => assertOwnVersion('1.2.3', second, git)).toThrow(
      /v1\.2\.3 was released as [0-9a-f]{12}: raise the version/,
    )
    assertOwnVersion('1.2.4', second, git)
  })
})
