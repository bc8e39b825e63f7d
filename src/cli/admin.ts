/** `admin list|grant|revoke`: the wallets that the file names as operators; `admin token …`. */
import { readFileSync, realpathSync } from 'node:fs'
import type { Command } from 'commander'
import { toAccountId } from '../access/accounts/account.ts'
import { withAdmins } from '../config/admins.ts'
import { readConfig } from '../config/file.ts'
import { replaceFile } from '../config/replace-file.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { adminTokenCommands } from './admin-tokens.ts'
import { configOf, Exit, exitCodes, print, printJson, say, verb } from './context.ts'
import { readAccount } from './values.ts'

type Options = Record<string, unknown> & { json?: boolean }

export function adminCommands(program: Command): void {
  const admin = program
    .command('admin')
    .description('operator wallets, and tokens of the operator API')
  adminTokenCommands(admin)
  verb(admin, 'list', 'list the configured admin wallets').action(list)
  verb(admin, 'grant', 'add a wallet to admins in the configuration file')
    .argument('<0x…>', 'wallet address', readAccount)
    .action((account: string, options: Options) =>
      change(options, (admins) => [...admins.filter((one) => one !== account), account]),
    )
  verb(admin, 'revoke', 'remove a wallet from admins in the configuration file')
    .argument('<0x…>', 'wallet address', readAccount)
    .action((account: string, options: Options) =>
      change(options, (admins) => admins.filter((one) => one !== account)),
    )
}

function list(options: Options): void {
  const admins = configOf(options).admins.map(shown)
  if (options.json) printJson({ object: 'list', data: admins })
  else for (const admin of admins) print(admin)
  if (admins.length === 0)
    say('No admins are configured. Add one with: counterfoil admin grant 0x…')
}

/** @throws Exit 2 if the environment or a flag sets the admins, 1 if the file is read-only, 78 */
function change(options: Options, to: (admins: string[]) => string[]): void {
  const before = configOf(options).admins.map(toAccountId)
  const file = options['config'] as string | undefined
  const loaded = readConfig(options, file, { isOffline: true })
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
  say(`Updated ${path}. Reload a running server with: kill -HUP <pid>`)
}

/** Replaces the file by a rename, so that a crash leaves the old one. */
function writeAdmins(path: string, admins: readonly string[]): void {
  let file: string
  let text: string
  try {
    file = realpathSync(path)
    text = readFileSync(file, 'utf8')
  } catch {
    const why = `${path} does not exist. Create it with: counterfoil init`
    throw new Exit(exitCodes.failed, why)
  }
  const changed = withAdmins(text, admins)
  if (changed === undefined) throw unchanged(path, admins)
  try {
    replaceFile(file, changed)
  } catch {
    throw unchanged(path, admins)
  }
}

function unchanged(path: string, admins: readonly string[]): Exit {
  const line = `admins = [${admins.map((admin) => `"${admin}"`).join(', ')}]`
  return new Exit(exitCodes.failed, `${path} could not be changed. Set this line by hand: ${line}`)
}

const shown = (account: string): string => toChecksumAddress(toAccountId(account))
