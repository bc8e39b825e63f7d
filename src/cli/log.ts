/** `log reopen`: abandons a log that diverged, while no server runs. */
import type { Command } from 'commander'
import { makeAnchoring } from '../app/anchoring.ts'
import { openLog } from '../app/logging.ts'
import { openLogOffice } from '../app/open-log.ts'
import { keySourceOf, openAnchorSender } from '../app/open-signer.ts'
import type { Config } from '../config/config.ts'
import { ChainUnavailable } from '../kernel/chain.ts'
import { headOnChain } from '../proof/anchors/watch.ts'
import { type Head, reopenLog } from '../proof/log/reopen.ts'
import { reopenings } from '../proof/log/store/reopen.ts'
import { reissued } from '../proof/receipts/receipt.ts'
import { countLost, lostPathOf } from '../proof/receipts/store/lost.ts'
import { openSource } from '../proof/signer/source.ts'
import { assertSame } from '../proof/signer/store.ts'
import {
  configOf,
  Exit,
  exitCodes,
  printJson,
  say,
  takeSignerKey,
  withSettings,
} from './context.ts'

export function logCommands(program: Command): void {
  const log = program.command('log').description('recover from a log that diverged')
  withSettings(log.command('reopen'))
    .description('abandon the log and start a new one; stop the server first')
    .requiredOption('--reason <words>', 'why; stored permanently in the new log')
    .option('--json', 'print JSON')
    .action(reopen)
}

async function reopen(options: { reason: string; json?: boolean }): Promise<void> {
  const reason = options.reason.trim()
  if (reason === '') throw new Exit(exitCodes.usage, 'Say why: --reason "…"')
  const config = configOf(options)
  const log = openLog({ level: 'error', format: 'pretty' })
  const office = await openLogOffice(config, log)
  try {
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
  } finally {
    await office.close()
  }
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
