/** Writes one structured, redacted line for each event. */
import pino from 'pino'
import type Pretty from 'pino-pretty'
import type { Log } from '../kernel/log.ts'
import { redact } from '../kernel/redact.ts'
import { isPoolerFault, poolerAdvice } from '../storage/db/engine/opening-fault.ts'

export type LogOptions = {
  level: 'debug' | 'info' | 'warn' | 'error'
  format: 'pretty' | 'json'
  /** File descriptor: 2 is stderr, because stdout is for data. */
  fd?: number
}

/** A log whose level can change while it is used. */
export type LevelledLog = Log & { setLevel(level: LogOptions['level']): void }

/** One structured line for each event, in UTC, redacted. A failed write fails nothing else. */
export function openLog({ level, format, fd = 2 }: LogOptions): LevelledLog {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const stream =
    format === 'pretty'
      ? // Required here: only a terminal needs it.
        (require('pino-pretty') as typeof Pretty)({
          destination: fd,
          sync: true,
          singleLine: true,
          ignore: 'pid,hostname',
        })
      : pino.destination({ dest: fd, sync: true })
  const ignore = () => {}
  if ('flushSync' in stream) stream.on('error', ignore)
  else stream.on('error', ignore)
  const out = pino(options, stream)
  return {
    debug: (event, fields) => out.debug(redactFields(fields), event),
    info: (event, fields) => out.info(redactFields(fields), event),
    warn: (event, fields) => out.warn(redactFields(fields), event),
    error: (event, error, fields) =>
      out.error({ ...redactFields(fields), fault: redact(faultOf(error)) }, event),
    setLevel: (next) => {
      out.level = next
    },
  }
}

/** An error as text: its name, its message and where it came from, also of what caused it. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\ncaused by ${faultOf(error.cause)}`
  const said = messageOf(error)
  // The first lines of a stack repeat the message, which may say too much.
  const frames = error.stack?.match(/^[ \t]+at .*$/gm)?.join('\n') ?? ''
  return `${error.name}: ${said}${frames && `\n${frames}`}${cause}`
}

/** The message of an error for people, redacted; the command line prints it too. */
export const sayingOf = (error: unknown): string =>
  redact(error instanceof Error ? messageOf(error) : String(error))

/** Adds the remedy to the error of a server whose connections a pooler shares. */
const withPoolerAdvice = (error: Error, said: string): string =>
  isPoolerFault(error) ? `${said}: PostgreSQL ${poolerAdvice}` : said

/** The message without the values of a failed query, which Drizzle writes into it. */
function messageOf(error: Error): string {
  if (!('query' in error && 'params' in error)) return withPoolerAdvice(error, error.message)
  const why = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return withPoolerAdvice(error, `Failed query: ${error.query}${why}`)
}

/** Names of fields whose values are always left out. */
const unspoken =
  /^(authorization|(set-)?cookie|password|secret|(api|private)_?key|prompt|messages)$/i

/** String by string: redacted as a whole, the JSON of an object could stop being JSON. */
const redactFields = (fields: Record<string, unknown> = {}): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify(fields, (name, value: unknown) => {
      if (unspoken.test(name) && value !== undefined) return '[redacted]'
      if (typeof value === 'bigint') return value.toString()
      return typeof value === 'string' ? redact(value) : value
    }),
  )
