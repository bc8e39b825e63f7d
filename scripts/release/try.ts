/** Starts an executable of a release where this machine can, natively or by an emulator. */
import { resolve } from 'node:path'
import type { Platform } from '../build.ts'
import type { Ran } from './notes.ts'

/** Asks an executable for its version, which loads the curve and the schema. */
export async function tryExecutable(platform: Platform, file: string): Promise<Ran> {
  const runner = runnerOf(platform)
  if ('not' in runner) return runner
  const child = Bun.spawn([...runner.command, resolve(file), 'version', '--json'], {
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 120_000,
  })
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if (code !== 0) return { not: `${runner.how}: it ended with ${code} (${lastLineOf(stderr)})` }
  return { how: runner.how, curve: (JSON.parse(stdout) as { curve: string }).curve }
}

const lastLineOf = (text: string): string =>
  text.trim().split('\n').at(-1)?.slice(0, 200).replaceAll('|', '/') || 'it said nothing'

type Runner = { command: string[]; how: string } | { not: string }

/** Debian's folder of the C library for arm64 (libc6-arm64-cross). */
const arm64Root = '/usr/aarch64-linux-gnu'

function runnerOf(platform: Platform): Runner {
  if (process.platform !== 'linux') return { not: 'the release was not made on Linux' }
  const isGlibc = platform.startsWith('linux-') && !platform.endsWith('-musl')
  if (isGlibc && platform.startsWith(`linux-${process.arch}`)) return { command: [], how: 'yes' }
  if (platform !== 'linux-arm64') return { not: 'no machine of that kind' }
  const qemu = Bun.which('qemu-aarch64') ?? Bun.which('qemu-aarch64-static')
  if (!qemu) return { not: 'qemu-user is missing' }
  if (!Bun.file(`${arm64Root}/lib/libc.so.6`).size) return { not: 'libc6-arm64-cross is missing' }
  return { command: [qemu, '-L', arm64Root], how: 'yes, by qemu-user' }
}
