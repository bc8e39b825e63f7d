/** `deposits status|rescan|assign`: each also runs beside a live server. */
import { type Command, InvalidArgumentError } from 'commander'
import { openCommandServices } from '../app/open-command-services.ts'
import { assignDeposit } from '../billing/deposits/claim.ts'
import { toDepositView } from '../billing/deposits/deposit.ts'
import { depositStore } from '../billing/deposits/store.ts'
import { isId } from '../kernel/ids.ts'
import { toUsd } from '../kernel/money.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { configOf, Exit, exitCodes, print, printJson, say, verb } from './context.ts'
import { readAccount } from './values.ts'

/** Number of deposits that `status` lists. */
const listed = 20

export function depositCommands(program: Command): void {
  const deposits = program
    .command('deposits')
    .description('inspect and repair deposits on chain 4663')
  verb(deposits, 'status', 'show the last block read and the newest deposits').action(status)
  verb(deposits, 'rescan', 'ask the server to read the chain again from a block')
    .requiredOption('--from-block <n>', 'first block to read', readBlock)
    .action(rescan)
  verb(deposits, 'assign', 'credit a deposit from an unknown wallet to an account')
    .argument('<dep_…>', 'id of the deposit')
    .argument('<0x…>', 'wallet address of the account', readAccount)
    .requiredOption('--reason <words>', 'why, for the audit')
    .action(assign)
}

type Options = { json?: boolean }

async function openDesk(options: Options) {
  const office = await openCommandServices(configOf(options))
  return { ...office, deposits: depositStore(office.db, { clock: office.clock, node: 'command' }) }
}

async function status(options: Options): Promise<void> {
  await using desk = await openDesk(options)
  const { deposits } = desk
  const block = (await deposits.cursor()) ?? null
  const rescan = (await deposits.rescanFrom()) ?? null
  const totals = await deposits.totals()
  const data = (await deposits.newest(listed)).map(toDepositView)
  if (options.json) {
    const states = Object.fromEntries(
      totals.map(({ status, count, total }) => [
        status,
        { count, amount_usd: toUsd(BigInt(total)) },
      ]),
    )
    return printJson({ object: 'list', block, rescan_from: rescan, states, data })
  }
  for (const { id, status, amount_nusd, from, account, tx_hash, log_index } of data) {
    const amount = amount_nusd === null ? 'too much' : `${toUsd(BigInt(amount_nusd))} USD`
    const whose = account === from ? from : `${from} for ${account}`
    print(`${id}  ${status.padEnd(10)}  ${amount.padStart(14)}  ${whose}  ${tx_hash}:${log_index}`)
  }
  for (const { status, count, total } of totals) {
    say(`${count} ${status}, ${toUsd(BigInt(total))} USD.`)
  }
  say(block === null ? 'No block has been read yet.' : `Read up to block ${block}.`)
  if (rescan !== null) say(`Blocks from ${rescan} are being read again.`)
}

async function rescan(options: Options & { fromBlock: number }): Promise<void> {
  await using desk = await openDesk(options)
  await desk.deposits.wantRescan(options.fromBlock)
  if (options.json) printJson({ rescan_from: options.fromBlock })
  else say(`The server will read again from block ${options.fromBlock} at its next poll.`)
}

async function assign(
  id: string,
  account: string,
  options: Options & { reason: string },
): Promise<void> {
  const reason = reasonFor(id, options)
  await using desk = await openDesk(options)
  const row = await assignDeposit(desk, { id, account, reason, actor: 'operator' })
  if (options.json) return printJson(toDepositView(row))
  const what =
    row.moved === null ? 'It will be credited there' : `${toUsd(row.moved)} USD moved there`
  const when = row.moved === null ? ' once it has enough confirmations' : ''
  say(`${id} now belongs to ${toChecksumAddress(account)}. ${what}${when}.`)
}

/** @throws Exit 2 if the id is not a deposit's, or the reason is empty */
function reasonFor(id: string, options: { reason: string }): string {
  const reason = options.reason.trim()
  if (reason === '') throw new Exit(exitCodes.usage, 'Say why: --reason "…"')
  if (!isId('dep', id)) throw new Exit(exitCodes.usage, `"${id}" is not a deposit id (dep_…)`)
  return reason
}

function readBlock(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number')
  return Number(text)
}
