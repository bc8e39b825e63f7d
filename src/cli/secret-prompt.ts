/** Reads a secret from the terminal without showing it. */
import { Exit, exitCodes } from './context.ts'

const enter = /[\r\n]/
const interrupts = new Set(['\u0003', '\u0004'])

/** @throws Exit 2 where no terminal is there to ask, with `otherwise`; Exit 1 when interrupted */
export async function promptSecret(question: string, otherwise: string): Promise<string> {
  const { stdin, stderr } = process
  if (stdin.isTTY !== true) throw new Exit(exitCodes.usage, otherwise)
  stderr.write(question)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  let secret = ''
  try {
    for await (const typed of stdin) {
      for (const one of String(typed)) {
        if (interrupts.has(one)) throw new Exit(exitCodes.failed, '\nNothing was changed.')
        if (enter.test(one)) return secret.trim()
        secret = one === '\u007f' ? secret.slice(0, -1) : secret + one
      }
    }
    return secret.trim()
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}
