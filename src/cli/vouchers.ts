/** `vouchers create|list|revoke`: prepaid codes, also made beside a live server. */
import type { Command } from 'commander'
import { issueVouchers, revokeVouchers } from '../billing/vouchers/issue-vouchers.ts'
import { voucherStore } from '../billing/vouchers/store.ts'
import { toBatchView } from '../billing/vouchers/vouchers.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import { toUsd } from '../kernel/money.ts'
import { openNamedServices } from './command-services.ts'
import { print, printJson, say, verb, withSettings } from './context.ts'
import { writeOut } from './output.ts'
import { readCount, readDuration, readUsd } from './values.ts'

export function voucherCommands(program: Command): void {
  const vouchers = program.command('vouchers').description('prepaid codes that credit an account')
  withSettings(vouchers.command('create'))
    .description('make a batch and print its codes as CSV, which are shown only once')
    .requiredOption('--amount <usd>', 'what each is worth, in decimal USD', readUsd)
    .requiredOption('--count <n>', 'how many, at most 10,000', readCount)
    .requiredOption('--expires <duration>', 'how long they can be redeemed: 30d, 24h', readDuration)
    .option('--per-account <n>', 'the most that one account may redeem (default: any)', readCount)
    .action(create)
  verb(vouchers, 'list', 'list batches, without their codes').action(list)
  verb(vouchers, 'revoke', 'withdraw what was not redeemed of a batch')
    .argument('<vou_…>', 'id of the batch')
    .action(revoke)
}

type Options = Record<string, unknown> & { json?: boolean }
type CreateOptions = Options & {
  amount: bigint
  count: number
  expires: number
  perAccount?: number
}

async function openDesk(options: Options) {
  const office = await openNamedServices(options)
  return { ...office, vouchers: voucherStore(office.db) }
}

async function create(options: CreateOptions): Promise<void> {
  await using desk = await openDesk(options)
  const { amount, count, expires: lifeMs, perAccount = null } = options
  const wish = { amount, count, lifeMs, perAccount, actor: 'operator' }
  const { batch, codes } = await issueVouchers(desk, wish)
  const rest = `${toUsd(amount)},${toRfc3339(batch.expiresAt)},${batch.id}`
  const lines = codes.map((code) => `${code},${rest}\n`)
  await writeOut(['code,amount_usd,expires_at,batch\n', ...lines].join(''))
  say(`Created ${batch.id}: ${count} of ${toUsd(amount)} USD. The codes are shown only once.`)
  desk.tell()
}

async function list(options: Options): Promise<void> {
  await using desk = await openDesk(options)
  const views = (await desk.vouchers.list()).map(toBatchView)
  if (options.json) return printJson({ object: 'list', data: views })
  for (const { id, amount_nusd, count, redeemed, expires_at, revoked_at } of views) {
    const state = revoked_at === null ? `until ${expires_at}` : `revoked ${revoked_at}`
    print(`${id}  ${toUsd(BigInt(amount_nusd))} USD  ${redeemed} of ${count} redeemed  ${state}`)
  }
  if (views.length === 0) say('No vouchers. Make some with: counterfoil vouchers create')
}

async function revoke(id: string, options: Options): Promise<void> {
  await using desk = await openDesk(options)
  const batch = await revokeVouchers(desk, id, 'operator')
  if (options.json) return printJson(toBatchView(batch))
  say(`Revoked ${id}. ${batch.redeemed} of ${batch.count} were redeemed; their money stays.`)
}
