import type { Command } from 'commander'
import { toRfc3339 } from '../kernel/clock.ts'
import { toJsonInteger, toUsd } from '../kernel/money.ts'
import { issueKey, type KeyWish } from '../keys/issue.ts'
import { revokeKey } from '../keys/revoke.ts'
import { toKeyView } from '../keys/view.ts'
import { openOffice } from '../open.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { configOf, print, printJson, say, withSettings } from './context.ts'
import { readAccount, readDuration, readList, readScopes, readUsd, readWindow } from './values.ts'

/** `key create|list|revoke`: also beside a running server, which notices at once. */
export function keyCommands(program: Command): void {
  const key = program.command('key').description('make, list and revoke keys')
  withSettings(key.command('create'))
    .description('make a key and print its secret, this once')
    .requiredOption('--account <0x…>', 'wallet address of the account', readAccount)
    .requiredOption('--cap <usd>', 'most it may spend in a window, decimal USD', readUsd)
    .option('--name <name>', 'what people call it', 'command line')
    .option('--expires <duration>', 'life: 90d, 24h, 30s (default 90d)', readDuration)
    .option('--window <window>', 'lifetime, day, week or month', readWindow, 'lifetime')
    .option('--scopes <a,b>', 'what it may do', readScopes)
    .option('--models <a,b>', 'models it may use; globs', readList)
    .option('--parent <key id>', 'make it a child of this key')
    .option('--max-cost-per-run <usd>', 'most a single run may cost', readUsd)
    .option('--json', 'print JSON')
    .action(create)
  withSettings(key.command('list'))
    .description('list keys')
    .option('--account <0x…>', 'only of this account', readAccount)
    .option('--json', 'print JSON')
    .action(list)
  withSettings(key.command('revoke'))
    .description('revoke a key and every key below it, for good')
    .argument('<key id>')
    .option('--json', 'print JSON')
    .action(revoke)
}

type CreateOptions = {
  account: string
  cap: bigint
  name: string
  expires?: number
  window: KeyWish['capWindow']
  scopes?: KeyWish['scopes']
  models?: string[]
  parent?: string
  maxCostPerRun?: bigint
  json?: boolean
}

async function create(options: CreateOptions): Promise<void> {
  const office = await openOffice(configOf(options))
  try {
    const { key, secret } = await issueKey(office, {
      account: options.account,
      parentId: options.parent,
      name: options.name,
      capLimit: options.cap,
      capWindow: options.window,
      expiresAt: options.expires && office.clock.now() + options.expires,
      scopes: options.scopes,
      models: options.models,
      maxCostPerRun: options.maxCostPerRun,
      actor: 'operator',
    })
    const account = toChecksumAddress(key.accountId)
    if (options.json) {
      printJson({
        id: key.id,
        secret,
        fingerprint: key.fingerprint,
        account,
        cap: { limit_nusd: toJsonInteger(key.capLimit), window: key.capWindow },
        expires_at: toRfc3339(key.expiresAt),
      })
      return
    }
    say(`Made ${key.id} for ${account}. The secret is shown this once:`)
    print(secret)
  } finally {
    await office.close()
  }
}

async function list(options: { account?: string; json?: boolean }): Promise<void> {
  const office = await openOffice(configOf(options))
  try {
    const now = office.clock.now()
    const keys = await office.keys.list(options.account, now)
    const views = keys.map((shown) => toKeyView(shown, now))
    if (options.json) return printJson({ object: 'list', data: views })
    for (const view of views) {
      const { limit_nusd, remaining_nusd, window } = view.cap
      const left = `${toUsd(BigInt(remaining_nusd))} of ${toUsd(BigInt(limit_nusd))} USD left`
      print(`${view.id}  ${view.status.padEnd(7)}  ${left} (${window})  ${view.name}`)
    }
  } finally {
    await office.close()
  }
}

async function revoke(keyId: string, options: { json?: boolean }): Promise<void> {
  const office = await openOffice(configOf(options))
  try {
    const { stopped } = await revokeKey(office, { keyId, actor: 'operator' })
    if (options.json) printJson({ id: keyId, revoked: true, stopped })
    else say(`Revoked ${keyId}. That stops ${stopped} key${stopped === 1 ? '' : 's'} at once.`)
  } finally {
    await office.close()
  }
}
