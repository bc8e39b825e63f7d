/** The commands, and how their errors become messages and exit codes. */
import { resolve } from 'node:path'
import { Command, CommanderError, Help } from 'commander'
import { sayingOf } from '../app/logging.ts'
import { version } from '../app/version.ts'
import { WrongSetting } from '../config/ensure-folder.ts'
import { helpSettings } from '../config/help.ts'
import { nearest } from '../kernel/nearest.ts'
import { Refusal } from '../kernel/refusal.ts'
import { StorageFault } from '../kernel/storage-fault.ts'
import { storageFaultOf } from '../storage/db/engine/storage.ts'
import { Exit, exitCodes, say } from './context.ts'
import { surviveLostOutput } from './output.ts'

const program = new Command('counterfoil')
  .description('A prepaid, verifiable gateway to AI models.')
  .version(version, '--version')
  .exitOverride()
  .configureOutput({ writeOut: (text) => process.stdout.write(text) })
  .configureHelp({
    // An empty list is how parsers begin, and tells a reader nothing.
    optionDescription: (option) =>
      new Help().optionDescription(option).replace(/ \(default: (\[\]|\{\})\)$/, ''),
  })
  .addHelpText('after', `\n${helpSettings()}`)

/** Imported on demand, so that a process evaluates only the command it runs. */
const commands: Record<string, () => Promise<(to: Command) => void>> = {
  serve: async () => (await import('./serve.ts')).serveCommand,
  init: async () => (await import('./init.ts')).initCommand,
  provider: async () => (await import('./provider.ts')).providerCommands,
  setup: async () => (await import('./setup.ts')).setupCommand,
  key: async () => (await import('./keys.ts')).keyCommands,
  grant: async () => (await import('./grant.ts')).grantCommand,
  receipt: async () => (await import('./receipt.ts')).receiptCommands,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  audit: async () => (await import('./audit.ts')).auditCommand,
  signer: async () => (await import('./signer.ts')).signerCommands,
  log: async () => (await import('./log.ts')).logCommands,
  witness: async () => (await import('./witness.ts')).witnessCommand,
  admin: async () => (await import('./admin.ts')).adminCommands,
  anchor: async () => (await import('./anchor.ts')).anchorCommands,
  deposits: async () => (await import('./deposits.ts')).depositCommands,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  backup: async () => (await import('./backup.ts')).backupCommands,
  restore: async () => (await import('./backup.ts')).backupCommands,
  export: async () => (await import('./export.ts')).exportCommands,
  db: async () => (await import('./database.ts')).databaseCommands,
  vouchers: async () => (await import('./vouchers.ts')).voucherCommands,
  margins: async () => (await import('./margins.ts')).marginCommand,
  models: async () => (await import('./models.ts')).modelCommands,
  import: async () => (await import('./move-in.ts')).moveInCommand,
  healthcheck: async () => (await import('./health.ts')).healthCommand,
  migrate: async () => (await import('./upkeep.ts')).upkeepCommands,
  config: async () => (await import('./upkeep.ts')).upkeepCommands,
  gather: async () => (await import('./gather.ts')).gatherCommand,
  slot: async () => (await import('./slot.ts')).slotCommands,
  version: async () => (await import('./upkeep.ts')).upkeepCommands,
}

/** Runs the command of an argument vector; sets the exit code of the process. */
export async function runCommand(argv: string[]): Promise<void> {
  surviveLostOutput()
  try {
    await addCommands(argv.slice(2))
    assertKnown(argv)
    await program.parseAsync(argv)
  } catch (error) {
    process.exitCode = report(error)
  }
}

/** All commands with their options, for what describes them: the manual page and completions. */
export async function allCommands(): Promise<Command> {
  if (program.commands.length === 0) await addCommands(['help'])
  return program
}

/** Adds the command that `word` names; all of them for help or an unknown word. */
async function addCommands([word, ...rest]: string[]): Promise<void> {
  const asksForHelp = [word, ...rest].some((given) => given === '--help' || given === '-h')
  const meant = word === undefined || (word.startsWith('-') && !asksForHelp) ? 'serve' : word
  const load = Object.hasOwn(commands, meant) ? commands[meant] : undefined
  const loads = load ? [load] : Object.values(commands)
  for (const addTo of new Set(await Promise.all(loads.map((one) => one())))) addTo(program)
  for (const command of program.commands) passOnTo(command)
}

/** `counterfoil` alone means `serve`, which would take a misspelt command as its argument. */
function assertKnown(argv: string[]): void {
  const [, , word = ''] = argv
  const names = [...program.commands.map((command) => command.name()), 'help']
  if (!/^[^-]/.test(word) || names.includes(word)) return
  const near = nearest(word, names)
  const hint = near ? `, did you mean "${near}"?` : '; --help lists them'
  throw new Exit(exitCodes.usage, `Unknown command "${word}"${hint}`)
}

/** Makes sub-commands throw too, instead of ending the process. */
function passOnTo(command: Command): void {
  command.exitOverride()
  for (const sub of command.commands) passOnTo(sub)
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage
  if (error instanceof Exit) {
    say(error.message)
    return error.code
  }
  if (error instanceof Refusal) {
    say(error.detail.param ? `${error.detail.param}: ${error.message}` : error.message)
    return exitCodes.failed
  }
  if (error instanceof WrongSetting) {
    say(error.message)
    return exitCodes.configuration
  }
  const denied = deniedBy(error)
  if (denied !== undefined) {
    say(denied)
    return exitCodes.failed
  }
  const fault = error instanceof StorageFault ? error : storageFaultOf(error, 'write')
  say(fault ? `${sayingOf(error).replace(/\.$/, '')}. ${fault.advice}.` : sayingOf(error))
  return exitCodes.failed
}

/** A message for a path the system denied, with the fix; undefined for other errors. */
function deniedBy(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('path' in error && 'code' in error)) return undefined
  const { code, path } = error as NodeJS.ErrnoException
  if (code === 'EROFS') return `${resolve(String(path))} is on a read-only file system`
  if (code !== 'EACCES' && code !== 'EPERM') return undefined
  const remedy = 'run this as the user that counterfoil runs as, or chown the path to it'
  return `Permission denied: ${resolve(String(path))}; ${remedy}`
}
