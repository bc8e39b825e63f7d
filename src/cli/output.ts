/** Writes output to pipes that may close early. */
import { exitCodes } from './context.ts'

/** Whether an error says that the reader of a pipe has closed it, as `| head` does. */
const isReaderGone = (error: unknown): boolean => (error as NodeJS.ErrnoException)?.code === 'EPIPE'

/**
 * Lets a command go on to its end when nothing reads its output any more, so that it never stops
 * between two steps of its work. Output that is lost for another reason, such as a full disk, makes
 * the exit code 1.
 */
export function surviveLostOutput(): void {
  process.stderr.on('error', () => {})
  process.stdout.on('error', (error: Error) => {
    if (isReaderGone(error)) return
    process.exitCode = exitCodes.failed
    process.stderr.write(`The output cannot be written: ${error.message}\n`)
  })
}

/**
 * Writes to stdout and waits for it. False when the rest of a long output is not needed: the reader
 * has closed the pipe, or {@link surviveLostOutput} has said why nothing more can be written.
 */
export function writeOut(text: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // `Bun.write` repeats bytes on a pipe once `process.stdout` made it non-blocking.
  process.stdout.write(text, (error) => resolve(!error))
  return promise
}
