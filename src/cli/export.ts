/** `export usage`: every receipt of an account, one line each; also beside a running server. */
import { closeSync, openSync } from 'node:fs'
import type { Command } from 'commander'
import { openOffice } from '../app/open-office.ts'
import { exportUsage } from '../billing/usage/export.ts'
import { makeExportSlots } from '../billing/usage/export-slots.ts'
import { type FormatName, formatNames } from '../billing/usage/formats.ts'
import { readPeriod } from '../billing/usage/range.ts'
import { usageStore } from '../billing/usage/store.ts'
import { writeWhole } from '../storage/db/whole-file.ts'
import { configOf, Exit, exitCodes, say, withSettings } from './context.ts'
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
    .action(write)
}

type Options = Record<string, unknown> & {
  account: string
  format: FormatName
  from?: string
  to?: string
  asOf?: number
  output?: string
}

const readForm = (text: string): FormatName => readWord('format', text, formatNames)

function readPlace(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Exit(exitCodes.usage, `"${text}" is not a log index; expected a whole number`)
}

async function write(options: Options): Promise<void> {
  const { account, format, asOf } = options
  const { from = 0, to } = readPeriod(options)
  const config = configOf(options)
  const office = await openOffice(config)
  const done = new AbortController()
  try {
    const deps = { ...office, usage: usageStore(office.db), exportSlots: makeExportSlots() }
    const exported = await exportUsage(deps, { account, format, from, to, asOf })
    const out = options.output === undefined ? undefined : openNew(options.output)
    for await (const text of exported.open(done.signal)) {
      if (out !== undefined) writeWhole(out, Buffer.from(text))
      else if (!(await writeOut(text))) return
    }
    if (out !== undefined) closeSync(out)
    say(
      `The log had ${exported.asOf} leaves; --as-of ${exported.asOf} exports the same bytes again.`,
    )
  } finally {
    done.abort()
    await office.close()
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
