/** `log reopen`: abandons a log that diverged. `log export`: writes the log as static files. */
import { join } from 'node:path'
import type { Command } from 'commander'
import { makeAnchoring } from '../app/anchoring.ts'
import { openLog } from '../app/logging.ts'
import { openExportOffice, openLogOffice } from '../app/open-log.ts'
import { keySourceOf, openAnchorSender } from '../app/open-signer.ts'
import type { Config } from '../config/config.ts'
import { ChainUnavailable } from '../kernel/chain.ts'
import { headOnChain } from '../proof/anchors/watch.ts'
import { ExportRefusal, exportLog, type LogExport } from '../proof/log/export-log.ts'
import { prefixOf } from '../proof/log/logs.ts'
import { type Head, reopenLog } from '../proof/log/reopen.ts'
import { logFolder } from '../proof/log/store/log-folder.ts'
import { reopenings } from '../proof/log/store/reopen.ts'
import { reissued } from '../proof/receipts/receipt.ts'
import { countLost, lostPathOf } from '../proof/receipts/store/lost.ts'
import { openSource } from '../proof/signer/source.ts'
import { assertSame } from '../proof/signer/store.ts'
import { configOf, Exit, exitCodes, printJson, say, takeSignerKey, verb } from './context.ts'

export function logCommands(program: Command): void {
  const log = program.command('log').description('export the log; recover from one that diverged')
  verb(log, 'export', 'write the log as files for any web server, also beside a running server')
    .argument('<folder>', 'to serve at /log; what is there already is not written again')
    .action(exportFiles)
  verb(log, 'reopen', 'abandon the log and start a new one; stop the server first')
    .requiredOption('--reason <words>', 'why; stored permanently in the new log')
    .action(reopen)
}

async function exportFiles(folder: string, options: { json?: boolean }): Promise<void> {
  const config = configOf(options)
  await using office = await openExportOffice(config, takeSignerKey())
  const done: LogExport[] = []
  for (const log of office.logs.all) {
    // The same path below the folder as the service has below /log.
    const place = join(folder, prefixOf(log.origin).slice('/log'.length))
    const files = logFolder(place, `${process.pid}.new`)
    const exported = await exportLog(office, log, files).catch((error: unknown) => {
      if (!(error instanceof ExportRefusal)) throw error
      throw new Exit(exitCodes.failed, `${place}: ${error.message}`)
    })
    if (!exported) continue
    done.push(exported)
    const { origin, size, written } = exported
    if (options.json) continue
    say(`${place}: ${size} leaves of ${origin}, ${written} new files; all were read again and`)
    say('have the root that was signed.')
  }
  if (done.length === 0) {
    const next = 'a running server stores one within seconds of the first receipt. Run this again.'
    throw new Exit(exitCodes.unavailable, `No signed head is stored yet: ${next}`)
  }
  if (options.json) printJson({ object: 'log.export', logs: done })
}

async function reopen(options: { reason: string; json?: boolean }): Promise<void> {
  const reason = options.reason.trim()
  if (reason === '') throw new Exit(exitCodes.usage, 'Say why: --reason "…"')
  const config = configOf(options)
  const log = openLog({ level: 'error', format: 'pretty' })
  await using office = await openLogOffice(config, log)
  const { address } = office.signers.current
  const signer = openSource(keySourceOf(config, takeSignerKey()), address, office.random)
  assertSame(address, signer)
  const stores = { reopenings: reopenings(office.db, office.logStore), reissue: reissued }
  const onChain = await askChain(config, office)
  const reopened = await reopenLog({ ...office, ...stores, signer }, { reason, head: onChain })
  const { origin, previous, head, last, lost } = reopened
  const listed = countLost(config.data)
  if (options.json) {
    const sizes = { previous_size: head.size, proven_size: last.size }
    const missing = { forgotten_size: lost?.size ?? null, lost_receipts: listed ?? null }
    return printJson({ origin, previous: previous.origin, ...sizes, ...missing })
  }
  say(`Receipts are now issued as ${origin}.`)
  say(`The log of ${previous.origin} was abandoned at ${head.size} leaves; the new log names it.`)
  say(`Its receipts with an index below ${last.size} keep their proofs.`)
  if (lost) say(`A head of ${lost.size} leaves had been signed: the leaves above are lost.`)
  if (listed) say(`${listed} lost receipts are listed in ${lostPathOf(config.data)}.`)
  if (lost) say('Other nodes list the ones that they acknowledged in their own data folders.')
}

/**
 * The log's head on the chain; undefined if it is not anchored.
 * @throws Exit 3 if the chain is unreachable: the new log would name too little of the old one
 */
async function askChain(
  config: Config,
  office: Awaited<ReturnType<typeof openLogOffice>>,
): Promise<Head | undefined> {
  const signerAddresses = office.signers.all.map(({ address }) => address)
  const parts = { ...office, node: 'command', sender: openAnchorSender(config), signerAddresses }
  try {
    return await headOnChain(await makeAnchoring(config, parts), office.logs.current.origin)
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    const hint = 'try again, or continue without the chain: --chain-rpc-urls ""'
    throw new Exit(exitCodes.unavailable, `${error.message}; ${hint}`)
  }
}
