/** The result of a `doctor` check: a status, a message and a fix. */
import { sayingOf } from '../app/logging.ts'
import { redact } from '../kernel/redact.ts'

export type Finding = {
  part: string
  /** `warn`: works, but not ready for production. `fail`: does not work. */
  status: 'ok' | 'warn' | 'fail'
  message: string
  /** A command or a setting to change; null if there is nothing to do. */
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

/** The findings of a check, or a failure if the check itself threw. */
export async function lookAt(
  part: string,
  fix: string,
  look: () => Finding[] | Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return await look()
  } catch (error) {
    // The cause says what failed; the query around it means nothing to an operator.
    const why = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return [failure(part, `${sayingOf(why).replace(/\.$/, '')}.`, fix)]
  }
}

/** Quotes a text as one shell word. */
export const quote = (text: string): string =>
  /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
