#!/usr/bin/env bun
import { Command, CommanderError } from 'commander'
import { Exit, exitCodes, say } from './cli/context.ts'
import { grantCommand } from './cli/grant.ts'
import { keyCommands } from './cli/keys.ts'
import { serveCommand } from './cli/serve.ts'
import { upkeepCommands } from './cli/upkeep.ts'
import { verifyCommand } from './cli/verify.ts'
import { helpSettings } from './config-help.ts'
import { Refusal } from './kernel/refusal.ts'

/** The binary: commands, and what their ends mean to a shell. */
const program = new Command('counterfoil')
  .description('A prepaid, verifiable gateway to AI models.')
  .exitOverride()
  .configureOutput({ writeOut: (text) => process.stdout.write(text) })
  .addHelpText('after', `\n${helpSettings()}`)

for (const addTo of [serveCommand, keyCommands, grantCommand, verifyCommand, upkeepCommands]) {
  addTo(program)
}
for (const command of program.commands) passOnTo(command)

// No top-level await: the bytecode of an executable cannot hold one.
program.parseAsync(process.argv).catch((error: unknown) => {
  process.exitCode = report(error)
})

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
  say(error instanceof Error ? error.message : String(error))
  return exitCodes.failed
}
