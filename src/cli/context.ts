/** Shared by every command: settings, exit codes and output. */
import type { Command } from 'commander'
import type { Config, LoadedConfig } from '../config/config.ts'
import { readConfig } from '../config/file.ts'
import { rows } from '../config/table.ts'

/** Exit codes of every command, besides 0 for success. */
export const exitCodes = { failed: 1, usage: 2, unavailable: 3, configuration: 78 } as const

/** An expected end of a command: the message for stderr, and the exit code. */
export class Exit extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

/** Lets a command take every setting as a flag; the program's `--help` lists them. */
export function withSettings(command: Command): Command {
  command.option('--config <file>', 'configuration file (counterfoil.toml)')
  for (const row of rows) {
    const option = command.createOption(`${row.flag} <value>`, row.setting.meaning)
    command.addOption(option.hideHelp())
  }
  return command
}

/** A command below `parent` that takes every setting, and prints JSON where it is asked to. */
export const verb = (parent: Command, name: string, about: string): Command =>
  withSettings(parent.command(name)).description(about).option('--json', 'print JSON')

/**
 * The configuration of a call that asks no model server: their keys may be missing where it runs.
 * @throws Exit 78 that lists every problem
 */
export const configOf = (options: Record<string, unknown>): Config =>
  toConfig(readConfig(options, options['config'] as string | undefined, { isOffline: true }))

/** The configuration of a server, with all its secrets. @throws Exit 78 that lists every problem */
export const wholeConfigOf = (options: Record<string, unknown>): Config =>
  toConfig(readConfig(options, options['config'] as string | undefined))

/** @throws Exit 78 that lists every problem */
export function toConfig(loaded: LoadedConfig): Config {
  if ('config' in loaded) return loaded.config
  const list = loaded.problems.map((problem) => `  - ${problem}`).join('\n')
  throw new Exit(exitCodes.configuration, `The configuration is invalid:\n${list}`)
}

/** Takes the signer's key out of the environment, so that nothing later can read it there. */
export function takeSignerKey(): string | undefined {
  const key = process.env['COUNTERFOIL_SIGNER_KEY']
  delete process.env['COUNTERFOIL_SIGNER_KEY']
  return key || undefined
}

/** Data goes to stdout, messages go to stderr. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`)
export const say = (text: string): void => void process.stderr.write(`${text}\n`)
export const printJson = (value: unknown): void => print(JSON.stringify(value))
