/** `export usage`: every receipt of an account, one line each; also beside a running server. */
import { closeSync, openSync } from 'node:fs'
import type { Command } from 'commander'
import { openCommandServices } from '../app/open-command-services.ts'
import { keySourceOf } from '../app/open-signer.ts'
import { exportUsage } from '../billing/usage/export.ts'
import { makeExportSlots } from '../billing/usage/export-slots.ts'
import { exportFormats, type FormatName, formatNames } from '../billing/usage/formats.ts'
import { type ExportTally, exportTallyBeside } from '../billing/usage/manifest.ts'
import { usageStore } from '../billing/usage/store.ts'
import type { Config } from '../config/config.ts'
import { readPeriod } from '../kernel/period.ts'
import { checkpointStore } from '../proof/log/store/checkpoint.ts'
import { openSource } from '../proof/signer/source.ts'
import { assertSame, findHistory } from '../proof/signer/store.ts'
import { writeWhole } from '../storage/db/files/whole-file.ts'
import { configOf, Exit, exitCodes, say, takeSignerKey, withSettings } from './context.ts'
import { writeOut } from './output.ts'
import { readAccount, readWord } from './values.ts'

export function exportCommands(program: Command): void {
  const all = program.command('export').description('export usage for other programs')
  withSettings(all.command('usage'))
    .description("export an account's usage: one line per receipt, in log order")
    .requiredOption('--account <0x…>', 'wallet address', readAccount)
    .option('--format <form>', formatNames.join(', '), readForm, 'csv')
    .option('--from <date>', 'date or RFC 3339 time, inclusive; default: the beginning')
    .option('--to <date>', 'date (inclusive) or RFC 3339 time (exclusive); default: no end')
    .option('--as-of <n>', 'leave out leaves at or above this log index', readPlace)
    .option('--output <file>', 'new file to write; default: stdout')
    .option(
      '--manifest <file>',
      'new file for the signed manifest (default: the last line of JSON lines)',
    )
    .option('--no-manifest', 'write the rows alone; the signing key is not needed then')
    .action(write)
}

type Services = Awaited<ReturnType<typeof openCommandServices>>

type Options = Record<string, unknown> & {
  account: string
  format: FormatName
  from?: string
  to?: string
  asOf?: number
  output?: string
  /** False for none. */
  manifest?: string | false
}

const readForm = (text: string): FormatName => readWord('format', text, formatNames)

function readPlace(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Exit(exitCodes.usage, `"${text}" is not a log index; expected a whole number`)
}

async function write(options: Options): Promise<void> {
  const { account, format, asOf } = options
  const manifest = manifestFile(options)
  const { from = 0, to } = readPeriod(options)
  const config = configOf(options)
  const office = await openCommandServices(config)
  const done = new AbortController()
  try {
    const deps = { ...office, usage: usageStore(office.db), exportSlots: makeExportSlots() }
    const wish = { account, format, from, to, asOf }
    const tally = manifest === undefined ? undefined : await openTally(config, office)
    const isApart = typeof manifest === 'string'
    const exported = await exportUsage(deps, wish, tally && { tally, isApart })
    const out = options.output === undefined ? undefined : openNew(options.output)
    const beside = tally && isApart ? openNew(manifest) : undefined
    for await (const text of exported.open(done.signal)) {
      if (out !== undefined) writeWhole(out, Buffer.from(text))
      else if (!(await writeOut(text))) return
    }
    if (out !== undefined) closeSync(out)
    if (tally && beside !== undefined) {
      writeWhole(beside, Buffer.from(`${JSON.stringify(await tally.end(exported.asOf))}\n`))
      closeSync(beside)
    }
    say(
      `The log had ${exported.asOf} leaves; --as-of ${exported.asOf} exports the same bytes again.`,
    )
  } finally {
    done.abort()
    await office.close()
  }
}

/** The file of the manifest; `inside` for the last line of the rows, undefined for none. */
function manifestFile({ format, output, manifest }: Options): string | typeof inside | undefined {
  if (manifest === false) return undefined
  if (manifest !== undefined) return manifest
  if (exportFormats[format].hasManifest) return inside
  return output === undefined ? undefined : `${output}.manifest.json`
}

const inside = Symbol('the last line')

/**
 * Signs with the key of receipts; undefined before the first start, when there is nothing to sign.
 * @throws Exit 1 if the key is not here
 */
async function openTally(
  config: Config,
  { db, random }: Services,
): Promise<ExportTally | undefined> {
  const history = await findHistory(db)
  if (!history) return undefined
  const { logs, signers } = history
  try {
    const signer = openSource(keySourceOf(config, takeSignerKey()), signers.current.address, random)
    assertSame(signers.current.address, signer)
    return exportTallyBeside({ signer, logs, checkpoints: checkpointStore(db, signers) })
  } catch (error) {
    const why = error instanceof Error ? error.message : 'the signing key cannot be read'
    throw new Exit(exitCodes.failed, `No manifest can be signed: ${why}. Or use --no-manifest.`)
  }
}

/** @throws Exit 1 if the file exists or cannot be written */
function openNew(file: string): number {
  try {
    return openSync(file, 'wx', 0o600)
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'already exists and was not changed' : 'cannot be written'
    throw new Exit(exitCodes.failed, `${file} ${why}`)
  }
}
