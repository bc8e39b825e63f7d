import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { areas } from '../../src/front/reference/areas.ts'
import { openApiOf, openApiOfArea } from '../../src/front/reference/document.ts'
import { cachedTools } from '../support/cached-tools.ts'
import { isNightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'

/** The most warnings of one linter, of the whole document and of all areas together. */
const warningsMax = 24

type Judged = { problems: { severity: string }[] }

describe.skipIf(!isNightly)('linters of OpenAPI', () => {
  let folder: string
  let files: string[]
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-lint-'))
    const whole = openApiOf({ baseUrl: 'https://gw.example', version: '1.2.3' })
    const parts = areas.map((area) => [area.id, openApiOfArea(whole, area)] as const)
    files = await Promise.all(
      [['openapi', whole] as const, ...parts].map(async ([name, document]) => {
        const file = join(folder, `${name}.json`)
        await Bun.write(file, JSON.stringify(document))
        return file
      }),
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** What a linter prints as JSON, no matter what its status. */
  async function lint(tool: string, args: readonly string[]): Promise<string> {
    const child = Bun.spawn([process.execPath, '--bun', tool, ...args], {
      cwd: folder,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', NO_UPDATE_NOTIFIER: '1' },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    return new Response(child.stdout).text()
  }

  promise`A21`
  test('Redocly finds no error, and few warnings, in the whole and in each area.', async () => {
    const tools = await cachedTools('redocly', ['@redocly/cli@2.77.0'])
    const cli = join(tools, 'node_modules/@redocly/cli/bin/cli.js')
    const text = await lint(cli, ['lint', '--format=json', '--max-problems=1000', ...files])
    // One JSON for each file, one behind the other.
    const judged = JSON.parse(`[${text.trim().replaceAll('\n}{', '\n},{')}]`) as Judged[]
    expect(judged).toHaveLength(files.length)
    const found = judged.flatMap(({ problems }) => problems)
    expect(found.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(found.length).toBeLessThanOrEqual(warningsMax)
  }, 600_000)

  promise`A21`
  test('Spectral finds no error, and few warnings, in the whole and in each area.', async () => {
    const tools = await cachedTools('spectral', ['@stoplight/spectral-cli@6.16.3'])
    const cli = join(tools, 'node_modules/@stoplight/spectral-cli/dist/index.js')
    await Bun.write(join(folder, 'ruleset.yaml'), 'extends: ["spectral:oas"]\n')
    const text = await lint(cli, ['lint', '-r', 'ruleset.yaml', '-f', 'json', ...files])
    const found = JSON.parse(text.slice(text.indexOf('['), text.lastIndexOf(']') + 1))
    expect(found.filter((one: { severity: number }) => one.severity === 0)).toEqual([])
    expect(found.length).toBeLessThanOrEqual(warningsMax)
  }, 600_000)
})
