/** `grant 0x… 10.00 --reason "…"`: credits an account with the operator's money. */
import type { Command } from 'commander'
import { openOffice } from '../app/open-office.ts'
import { toJsonInteger, toUsd } from '../kernel/money.ts'
import { grantCredit } from '../ledger/grant.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { configOf, Exit, exitCodes, printJson, say, withSettings } from './context.ts'
import { readAccount, readUsd } from './values.ts'

export function grantCommand(program: Command): void {
  withSettings(program.command('grant'))
    .description("credit an account with the operator's money")
    .argument('<0x…>', 'wallet address', readAccount)
    .argument('<usd>', 'decimal USD', readUsd)
    .requiredOption('--reason <words>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action(async (account: string, amount: bigint, options: GrantOptions) => {
      const reason = options.reason.trim()
      if (reason === '') throw new Exit(exitCodes.usage, 'Say why: --reason "…"')
      const shown = toChecksumAddress(account)
      const office = await openOffice(configOf(options))
      try {
        const wish = { account, amount, reason, actor: 'operator' }
        const balance = await grantCredit(office, wish)
        if (options.json) {
          const balance_nusd = toJsonInteger(balance)
          printJson({ account: shown, granted_nusd: toJsonInteger(amount), balance_nusd })
        } else {
          say(`Granted ${toUsd(amount)} USD to ${shown}. Its balance is ${toUsd(balance)} USD.`)
        }
      } finally {
        await office.close()
      }
    })
}

type GrantOptions = { reason: string; json?: boolean }
