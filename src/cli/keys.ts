/**
 * `key create|list|pause|…`: each also runs beside a live server, which applies changes at
 * once.
 */
import type { Command } from 'commander'
import { issueKey, type KeyRequest } from '../access/keys/issue.ts'
import { everyLimit, type LimitsChange } from '../access/keys/key-limits.ts'
import { toKeyView } from '../access/keys/key-view.ts'
import { pauseKey, resumeKey } from '../access/keys/pause.ts'
import { revokeKey } from '../access/keys/revoke.ts'
import { rotateKey } from '../access/keys/rotate.ts'
import { openCommandServices } from '../app/open-command-services.ts'
import { timeOrNull, toRfc3339 } from '../kernel/clock.ts'
import { toJsonInteger, toUsd } from '../kernel/money.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { openNamedServices } from './command-services.ts'
import { configOf, print, printJson, say, verb } from './context.ts'
import {
  readAccount,
  readCount,
  readDuration,
  readList,
  readScopes,
  readUsd,
  readWindow,
} from './values.ts'

export function keyCommands(program: Command): void {
  const key = program.command('key').description('create, list, pause, rotate and revoke keys')
  const made = verb(key, 'create', 'create a key and print its secret, which is shown only once')
    .requiredOption('--account <0x…>', 'wallet address of the account', readAccount)
    .requiredOption('--cap <usd>', 'spending limit per window, in decimal USD', readUsd)
    .option('--name <name>', 'display name', 'command line')
    .option('--expires <duration>', 'lifetime: 90d, 24h, 30s (default: 90d)', readDuration)
    .option('--window <window>', 'lifetime, day, week or month', readWindow, 'lifetime')
    .option('--scopes <a,b>', 'scopes it has', readScopes)
    .option('--models <a,b>', 'models it may use, as globs', readList)
    .option('--parent <key id>', 'make it a child of this key')
    .action(create)
  for (const [, { kind, about, field }] of everyLimit) {
    const flag = `--${field.name.replaceAll('_', '-')}`
    const what = about.charAt(0).toLowerCase() + about.slice(1, -1)
    if (kind === 'flag') made.option(flag, what)
    else if (kind === 'amount') made.option(`${flag} <usd>`, `${what}, in decimal USD`, readUsd)
    else made.option(`${flag} <n>`, what, readCount)
  }
  verb(key, 'list', 'list keys')
    .option('--account <0x…>', 'only keys of this account', readAccount)
    .action(list)
  verb(key, 'pause', 'pause a key and every key below it until it is resumed')
    .argument('<key id>')
    .action(pause)
  verb(key, 'resume', 'resume a paused key').argument('<key id>').action(resume)
  verb(key, 'rotate', 'replace the secret of a key and print the new one, which is shown only once')
    .argument('<key id>')
    .option(
      '--overlap <duration>',
      'how long the old secret still works (default: 0)',
      readDuration,
    )
    .action(rotate)
  verb(key, 'revoke', 'revoke a key and every key below it permanently')
    .argument('<key id>')
    .action(revoke)
}

/** Options of limits have the names of their columns. */
type CreateOptions = Record<string, unknown> &
  LimitsChange & {
    account: string
    cap: bigint
    name: string
    expires?: number
    window: KeyRequest['capWindow']
    scopes?: KeyRequest['scopes']
    models?: string[]
    parent?: string
    json?: boolean
  }

async function create(options: CreateOptions): Promise<void> {
  await using office = await openNamedServices(options)
  const { key, secret } = await issueKey(office, {
    account: options.account,
    parentId: options.parent,
    name: options.name,
    capLimit: options.cap,
    capWindow: options.window,
    expiresAt: options.expires && office.clock.now() + options.expires,
    scopes: options.scopes,
    models: options.models,
    ...Object.fromEntries(everyLimit.map(([column]) => [column, options[column]])),
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
      database: office.database,
    })
    return
  }
  office.tell()
  say(`Created ${key.id} for ${account}. The secret is shown only once:`)
  print(secret)
}

async function list(options: { account?: string; json?: boolean }): Promise<void> {
  await using office = await openCommandServices(configOf(options))
  const now = office.clock.now()
  const keys = await office.keys.list(options.account, now)
  const views = keys.map((shown) => toKeyView(shown, now))
  if (options.json) return printJson({ object: 'list', data: views })
  for (const view of views) {
    const { limit_nusd, remaining_nusd, window } = view.cap
    const left = `${toUsd(BigInt(remaining_nusd))} of ${toUsd(BigInt(limit_nusd))} USD left`
    print(`${view.id}  ${view.status.padEnd(7)}  ${left} (${window})  ${view.name}`)
  }
  if (views.length === 0) say('No keys. Create one with: counterfoil key create')
}

async function pause(keyId: string, options: { json?: boolean }): Promise<void> {
  await using office = await openCommandServices(configOf(options))
  const key = await pauseKey(office, { keyId, actor: 'operator' })
  if (options.json) printJson({ id: key.id, paused: true })
  else say(`Paused ${key.id} and every key below it until it is resumed.`)
}

async function resume(keyId: string, options: { json?: boolean }): Promise<void> {
  await using office = await openCommandServices(configOf(options))
  const key = await resumeKey(office, { keyId, actor: 'operator' })
  const left = await office.keys.leftPaused(key)
  if (options.json) return printJson({ id: key.id, paused: false, left_paused: left })
  say(`Resumed ${key.id}.`)
  if (left.length > 0) say('Still stopped, because it was made with a leaked secret:')
  for (const { object, id, name } of left) print(`${id}  ${object}  ${name}`)
}

async function rotate(keyId: string, options: { overlap?: number; json?: boolean }): Promise<void> {
  await using office = await openCommandServices(configOf(options))
  const overlapSeconds = (options.overlap ?? 0) / 1000
  const { key, secret } = await rotateKey(office, { keyId, actor: 'operator', overlapSeconds })
  const { overlapUntil } = await office.keys.show(key.id, office.clock.now())
  const until = timeOrNull(overlapUntil)
  if (options.json) {
    const { id, fingerprint } = key
    return printJson({ id, secret, fingerprint, overlap_until: until })
  }
  const old =
    until === null ? 'The old secret no longer works' : `The old secret works until ${until}`
  say(`Rotated ${key.id}. ${old}. The new one is shown only once:`)
  print(secret)
}

async function revoke(keyId: string, options: { json?: boolean }): Promise<void> {
  await using office = await openCommandServices(configOf(options))
  const { stopped } = await revokeKey(office, { keyId, actor: 'operator' })
  if (options.json) printJson({ id: keyId, revoked: true, stopped })
  else say(`Revoked ${keyId}. ${stopped} key${stopped === 1 ? '' : 's'} stopped working at once.`)
}
