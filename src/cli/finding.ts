import { sayingOf } from '../app/logging.ts'
import { redact } from '../kernel/redact.ts'

/** What `doctor` found of one part: how it is, in words, and what puts it right. */
export type Finding = {
  part: string
  /** `warn`: it works, but not for real use. `fail`: something does not work. */
  status: 'ok' | 'warn' | 'fail'
  message: string
  /** A command, or what to set; null where there is nothing to do. */
  fix: string | null
}

export const fine = (part: string, message: string): Finding => ({
  part,
  status: 'ok',
  message: redact(message),
  fix: null,
})

export const warning = (part: string, message: string, fix: string): Finding => ({
  part,
  status: 'warn',
  message: redact(message),
  fix,
})

export const failure = (part: string, message: string, fix: string): Finding => ({
  part,
  status: 'fail',
  message: redact(message),
  fix,
})

/** What a look found, or that it could not be taken. */
export async function lookAt(
  part: string,
  fix: string,
  look: () => Finding[] | Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return await look()
  } catch (error) {
    // Which query it was that a database did not answer is nothing to an operator.
    const why = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return [failure(part, `${sayingOf(why).replace(/\.$/, '')}.`, fix)]
  }
}

/** One word to a shell. */
export const quote = (text: string): string =>
  /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
