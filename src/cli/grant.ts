/** `grant 0x… 10.00 --reason "…"`: credits an account with the operator's money. */
import type { Command } from 'commander'
import { toJsonInteger, toUsd } from '../kernel/money.ts'
import { grantCredit } from '../ledger/grant.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { openNamedServices } from './command-services.ts'
import { Exit, exitCodes, printJson, say, verb } from './context.ts'
import { readAccount, readUsd } from './values.ts'

export function grantCommand(program: Command): void {
  verb(program, 'grant', "credit an account with the operator's money")
    .argument('<0x…>', 'wallet address', readAccount)
    .argument('<usd>', 'decimal USD', readUsd)
    .requiredOption('--reason <words>', 'why, for the audit')
    .action(async (account: string, amount: bigint, options: GrantOptions) => {
      const reason = options.reason.trim()
      if (reason === '') throw new Exit(exitCodes.usage, 'Say why: --reason "…"')
      const shown = toChecksumAddress(account)
      await using office = await openNamedServices(options)
      const wish = { account, amount, reason, actor: 'operator' }
      const balance = await grantCredit(office, wish)
      if (options.json) {
        const balance_nusd = toJsonInteger(balance)
        const { database } = office
        printJson({ account: shown, granted_nusd: toJsonInteger(amount), balance_nusd, database })
      } else {
        say(`Granted ${toUsd(amount)} USD to ${shown}. Its balance is ${toUsd(balance)} USD.`)
        office.tell()
      }
    })
}

type GrantOptions = Record<string, unknown> & { reason: string; json?: boolean }
