import { closeSync, openSync } from 'node:fs'
import type { Command } from 'commander'
import { openOffice } from '../app/open.ts'
import { exportUsage } from '../billing/usage/export.ts'
import { makeExportSlots } from '../billing/usage/export-slots.ts'
import { type FormName, formNames } from '../billing/usage/formats.ts'
import { readPeriod } from '../billing/usage/range.ts'
import { usageStore } from '../billing/usage/store.ts'
import { writeWhole } from '../storage/db/whole-file.ts'
import { configOf, Exit, exitCodes, say, withSettings } from './context.ts'
import { writeOut } from './output.ts'
import { readAccount, readWord } from './values.ts'

/** `export usage`: every receipt of an account, one line each; also beside a running server. */
export function exportCommands(program: Command): void {
  const all = program.command('export').description('write what was used for other programs')
  withSettings(all.command('usage'))
    .description('write what an account used: a line a receipt, in the order of the log')
    .requiredOption('--account <0x…>', 'wallet address', readAccount)
    .option('--format <form>', formNames.join(', '), readForm, 'csv')
    .option('--from <date>', 'a date or an RFC 3339 time; from the beginning when absent')
    .option('--to <date>', 'a date, which is in it, or a time, which is not')
    .option('--as-of <n>', 'leave out what was logged from this place on', readPlace)
    .option('--output <file>', 'a new file; stdout when absent')
    .action(write)
}

type Options = Record<string, unknown> & {
  account: string
  format: FormName
  from?: string
  to?: string
  asOf?: number
  output?: string
}

const readForm = (text: string): FormName => readWord('format', text, formNames)

function readPlace(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Exit(exitCodes.usage, `"${text}" is no place in the log, which is a whole number`)
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
    say(`As of ${exported.asOf} leaves; --as-of ${exported.asOf} gives the same bytes again.`)
  } finally {
    done.abort()
    await office.close()
  }
}

/** @throws Exit 1 when it is there already. */
function openNew(file: string): number {
  try {
    return openSync(file, 'wx', 0o600)
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'is there already; it stays as it is' : 'cannot be written'
    throw new Exit(exitCodes.failed, `${file} ${why}`)
  }
}
