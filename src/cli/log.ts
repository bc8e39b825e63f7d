import type { Command } from 'commander'
import { reopenLog } from '../log/reopen.ts'
import { reopenings } from '../log/reopen-store.ts'
import { openLog } from '../logging.ts'
import { keySourceOf, openLogOffice } from '../open.ts'
import { openSource } from '../signer/source.ts'
import { assertSame } from '../signer/store.ts'
import {
  configOf,
  Exit,
  exitCodes,
  printJson,
  say,
  takeSignerKey,
  withSettings,
} from './context.ts'

/** `log reopen`, while no server runs. */
export function logCommands(program: Command): void {
  const log = program.command('log').description('the way out of a log that diverged')
  withSettings(log.command('reopen'))
    .description('abandon the log and issue in a new one; stop the server first')
    .requiredOption('--reason <words>', 'why; stands in the new log for ever')
    .option('--json', 'print JSON')
    .action(reopen)
}

async function reopen(options: { reason: string; json?: boolean }): Promise<void> {
  const reason = options.reason.trim()
  if (reason === '') throw new Exit(exitCodes.usage, 'Say why: --reason "…"')
  const config = configOf(options)
  const log = openLog({ level: 'error', format: 'pretty' })
  const office = await openLogOffice(config, process.pid, log)
  try {
    const { address } = office.signers.current
    const signer = openSource(keySourceOf(config, takeSignerKey()), address, office.random)
    assertSame(address, signer)
    const deps = { ...office, signer, reopenings: reopenings(office.db, office.logStore) }
    const { origin, previous, head } = await reopenLog(deps, { reason })
    if (options.json) {
      return printJson({ origin, previous: previous.origin, previous_size: head.size })
    }
    say(`Receipts are issued as ${origin} from now on.`)
    say(`The log of ${previous.origin} was abandoned; its head of ${head.size} leaves is named.`)
  } finally {
    await office.close()
  }
}
