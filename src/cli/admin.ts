import {
  chmodSync,
  chownSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import type { Command } from 'commander'
import { toAccountId } from '../access/accounts/account.ts'
import { withAdmins } from '../config/admins.ts'
import { readConfig } from '../config/file.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { configOf, Exit, exitCodes, print, printJson, say, withSettings } from './context.ts'
import { readAccount } from './values.ts'

type Options = Record<string, unknown> & { json?: boolean }

/** `admin list|grant|revoke`: the wallets that the configuration file names as operators. */
export function adminCommands(program: Command): void {
  const admin = program.command('admin').description('who sees the pages of the operator')
  withSettings(admin.command('list'))
    .description('list the admin wallets of the configuration')
    .option('--json', 'print JSON')
    .action(list)
  withSettings(admin.command('grant'))
    .description('add a wallet to admins in the configuration file')
    .argument('<0x…>', 'wallet address', readAccount)
    .option('--json', 'print JSON')
    .action((account: string, options: Options) =>
      change(options, (admins) => [...admins.filter((one) => one !== account), account]),
    )
  withSettings(admin.command('revoke'))
    .description('take a wallet out of admins in the configuration file')
    .argument('<0x…>', 'wallet address', readAccount)
    .option('--json', 'print JSON')
    .action((account: string, options: Options) =>
      change(options, (admins) => admins.filter((one) => one !== account)),
    )
}

function list(options: Options): void {
  const admins = configOf(options).admins.map(shown)
  if (options.json) printJson({ object: 'list', data: admins })
  else for (const admin of admins) print(admin)
  if (admins.length === 0) say('There are none: nobody sees the pages of the operator.')
}

/** @throws Exit 2 where the file does not decide, 1 where it cannot be changed, 78 */
function change(options: Options, to: (admins: string[]) => string[]): void {
  const before = configOf(options).admins.map(toAccountId)
  const loaded = readConfig(options, options['config'] as string | undefined)
  const source = 'sources' in loaded ? loaded.sources['admins'] : undefined
  if (source === 'env' || source === 'flag') {
    const where = source === 'env' ? 'the environment (COUNTERFOIL_ADMINS)' : '--admins'
    throw new Exit(exitCodes.usage, `The admins come from ${where}: change them there.`)
  }
  const path = String(options['config'] || process.env['COUNTERFOIL_CONFIG'] || 'counterfoil.toml')
  const after = to(before).map(shown)
  writeAdmins(path, after)
  if (options.json) printJson({ object: 'list', data: after })
  else for (const admin of after) print(admin)
  say(`${path} says so now. A running server takes it on with: kill -HUP <pid>`)
}

/** A crash between leaves the old file. */
function writeAdmins(path: string, admins: readonly string[]): void {
  let file: string
  let text: string
  try {
    file = realpathSync(path)
    text = readFileSync(file, 'utf8')
  } catch {
    const why = `There is no ${path} to change. Write one with: counterfoil init`
    throw new Exit(exitCodes.failed, why)
  }
  const changed = withAdmins(text, admins)
  if (changed === undefined) throw unchanged(path, admins)
  const fresh = `${file}.new`
  try {
    const { mode, uid, gid } = statSync(file)
    writeFileSync(fresh, changed, { mode: 0o600 })
    // A service may read it by its group only, and root makes files of its own group.
    chownSync(fresh, uid, gid)
    chmodSync(fresh, mode & 0o777)
    renameSync(fresh, file)
  } catch {
    rmSync(fresh, { force: true })
    throw unchanged(path, admins)
  }
}

function unchanged(path: string, admins: readonly string[]): Exit {
  const line = `admins = [${admins.map((admin) => `"${admin}"`).join(', ')}]`
  return new Exit(exitCodes.failed, `${path} was not changed. Write into it by hand: ${line}`)
}

const shown = (account: string): string => toChecksumAddress(toAccountId(account))
