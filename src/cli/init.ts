/** `init`: writes a commented configuration file to start from. */
import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { exampleFile } from '../config/example.ts'
import { Exit, exitCodes, print, printJson, say } from './context.ts'

export function initCommand(program: Command): void {
  program
    .command('init')
    .description('write a commented configuration file; never replaces one')
    .argument('[file]', 'file to write', 'counterfoil.toml')
    .option('--json', 'print JSON')
    .action((file: string, options: { json?: boolean }) => {
      try {
        writeFileSync(file, exampleFile(), { flag: 'wx', mode: 0o600 })
      } catch (error) {
        const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
        const why = exists ? 'already exists and was not changed' : 'cannot be written'
        throw new Exit(exitCodes.failed, `${file} ${why}`)
      }
      if (options.json) return printJson({ file })
      print(file)
      say('Every setting in it is commented out. Next: counterfoil doctor, then counterfoil serve.')
    })
}
