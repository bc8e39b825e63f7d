import { Command, CommanderError } from 'commander'
import { helpSettings } from '../config-help.ts'
import { storageFaultOf } from '../db/storage.ts'
import { nearest } from '../kernel/nearest.ts'
import { Refusal } from '../kernel/refusal.ts'
import { StorageFault } from '../kernel/storage-fault.ts'
import { sayingOf } from '../logging.ts'
import { version } from '../version.ts'
import { adminCommands } from './admin.ts'
import { anchorCommands } from './anchor.ts'
import { auditCommand } from './audit.ts'
import { backupCommands } from './backup.ts'
import { Exit, exitCodes, say } from './context.ts'
import { databaseCommands } from './database.ts'
import { depositCommands } from './deposits.ts'
import { doctorCommand } from './doctor.ts'
import { exportCommands } from './export.ts'
import { grantCommand } from './grant.ts'
import { healthCommand } from './health.ts'
import { initCommand } from './init.ts'
import { keyCommands } from './keys.ts'
import { logCommands } from './log.ts'
import { modelCommands } from './models.ts'
import { receiptCommands } from './receipt.ts'
import { serveCommand } from './serve.ts'
import { signerCommands } from './signer.ts'
import { upkeepCommands } from './upkeep.ts'
import { verifyCommand } from './verify.ts'

/** All commands, and what their ends mean to a shell. */
const program = new Command('counterfoil')
  .description('A prepaid, verifiable gateway to AI models.')
  .version(version, '--version')
  .exitOverride()
  .configureOutput({ writeOut: (text) => process.stdout.write(text) })
  .addHelpText('after', `\n${helpSettings()}`)

for (const addTo of [
  serveCommand,
  initCommand,
  keyCommands,
  grantCommand,
  receiptCommands,
  verifyCommand,
  auditCommand,
  signerCommands,
  logCommands,
  adminCommands,
  anchorCommands,
  depositCommands,
  doctorCommand,
  backupCommands,
  exportCommands,
  databaseCommands,
  modelCommands,
  healthCommand,
  upkeepCommands,
]) {
  addTo(program)
}
for (const command of program.commands) passOnTo(command)

/** Runs the command of an argument vector; sets the exit code of the process. */
export async function runCommand(argv: string[]): Promise<void> {
  try {
    assertKnown(argv)
    await program.parseAsync(argv)
  } catch (error) {
    process.exitCode = report(error)
  }
}

/** A bare `counterfoil` serves, so a misspelt command would be taken for its argument. */
function assertKnown(argv: string[]): void {
  const [, , word = ''] = argv
  const names = [...program.commands.map((command) => command.name()), 'help']
  if (!/^[^-]/.test(word) || names.includes(word)) return
  const near = nearest(word, names)
  const hint = near ? `, did you mean "${near}"?` : '; --help lists them'
  throw new Exit(exitCodes.usage, `There is no command "${word}"${hint}`)
}

/** Sub-commands must throw too, instead of ending the process themselves. */
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
  const fault = error instanceof StorageFault ? error : storageFaultOf(error, 'write')
  say(fault ? `${sayingOf(error).replace(/\.$/, '')}. ${fault.advice}.` : sayingOf(error))
  return exitCodes.failed
}
