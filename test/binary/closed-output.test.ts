import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { seedRuns } from '../../drills/seed.ts'
import {
  binary,
  grant,
  type Home,
  makeHome,
  makeKey,
  must,
  noBinary,
  someAccount,
} from '../support/binary.ts'
import { promise } from '../support/promise.ts'

describe.skipIf(noBinary)('a command whose output is closed early', () => {
  let home: Home
  beforeAll(async () => {
    home = await makeHome()
    await makeKey(home)
  })
  afterAll(() => home?.remove())

  /** Starts the binary, runs a shell line with it as `$B`, and returns what the shell said. */
  async function shell(line: string): Promise<string> {
    const child = Bun.spawn(['bash', '-c', line], {
      cwd: home.folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: home.folder, B: binary },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return stdout + stderr
  }

  /** The pipe's reader has ended before the command writes its first byte. */
  const intoClosedPipe = (command: string) =>
    shell(`{ sleep 0.2; $B ${command} 2>said; echo $? >code; } | true; cat code said`)

  const quiet: [command: string, said: RegExp][] = [
    ['key list', /^0\n$/],
    ['key list --json', /^0\n$/],
    ['config --explain', /^0\n$/],
    ['version', /^0\n$/],
    ['--help', /^0\n$/],
    ['doctor', /^0\n0 to repair, \d missing for production\.\n$/],
    [`export usage --account ${someAccount}`, /^0\n$/],
  ]
  promise`M2 H: A command whose output is closed early finishes its work and ends without an error.`
  test.each(quiet)('%s ends without an error or a stack trace', async (command, said) => {
    expect(await intoClosedPipe(command)).toMatch(said)
  })

  promise`M2`
  test('finishes what it began: the key it made is there', async () => {
    const before = JSON.parse(await must(home, 'key', 'list', '--json')).data.length
    const args = `--account ${someAccount} --cap 1.00 --json`
    expect(await intoClosedPipe(`key create ${args}`)).toBe('0\n')
    const after = JSON.parse(await must(home, 'key', 'list', '--json')).data.length
    expect(after).toBe(before + 1)
  })

  test('still fails with its own exit code when both outputs are closed', async () => {
    const line = '{ sleep 0.2; $B key revoke key_none 2>&1; echo $? >code; } | true; cat code'
    expect(await shell(line)).toBe('1\n')
  })

  test('arrives whole when it is longer than a pipe holds and its reader is slow', async () => {
    await (await home.start()).stop()
    await grant(home, '1000.00')
    const root = await makeKey(home)
    const child = await makeKey(home, {}, '--parent', root.id)
    const origin = 'http://localhost:4663'
    await seedRuns({ data: home.data, origin, root, child, count: 2000 })
    const args = `export usage --account ${someAccount} --format jsonl --no-manifest`
    await must(home, ...args.split(' '), '--output', 'whole')
    await shell(`$B ${args} | (sleep 0.3; cat) >piped`)
    const [whole, piped] = ['whole', 'piped'].map((name) => readFileSync(join(home.folder, name)))
    expect(whole?.length).toBeGreaterThan(1_000_000)
    expect(piped?.equals(whole ?? Buffer.alloc(0))).toBe(true)
  }, 60_000)

  promise`M2`
  test('fails in one line when its output is a full disk', async () => {
    const child = Bun.spawn([binary, 'config', '--explain'], {
      cwd: home.folder,
      stdout: openSync('/dev/full', 'w'),
      stderr: 'pipe',
    })
    const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
    expect({ code, lines: said.split('\n').length }).toEqual({ code: 1, lines: 2 })
    expect(said).toStartWith('The output cannot be written: ENOSPC')
  })
})
