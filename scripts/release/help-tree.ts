/** The commands of the CLI as plain data, of its own help: manual page and completions use it. */
import type { Command } from 'commander'
import { allCommands } from '../../src/cli/program.ts'

export type HelpOption = { flags: string; names: string[]; meaning: string; isSetting: boolean }

export type HelpNode = {
  /** From the program on: `[]`, `['key']`, `['key', 'create']`. */
  path: string[]
  meaning: string
  /** The arguments behind the name: `[options] <0x…> <usd>`. */
  usage: string
  options: HelpOption[]
  children: HelpNode[]
}

export const readHelp = async (): Promise<HelpNode> => nodeOf(await allCommands(), [])

function nodeOf(command: Command, path: string[]): HelpNode {
  const { commands, options } = command
  return {
    path,
    meaning: command.description(),
    usage: command.usage(),
    // Settings are options that the help of a command leaves out.
    options: options.map(({ flags, short, long, description, hidden }) => ({
      flags,
      names: [short, long].filter((name) => name != null),
      meaning: description,
      isSetting: hidden,
    })),
    children: commands.map((child) => nodeOf(child, [...path, child.name()])),
  }
}

/** The node and all below it, parents first. */
export const walk = (node: HelpNode): HelpNode[] => [node, ...node.children.flatMap(walk)]
