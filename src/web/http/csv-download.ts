/** Sends a list as a CSV file, page by page. */
import { toLine } from '../../kernel/csv.ts'
import type { Download } from './download.ts'

/** The most rows of a file. */
export const csvMax = 10_000

/** Rows of one read, which nothing else of this process runs beside. */
export const csvStep = 200

/** Reads a page behind a row; `next` is undefined at the end. */
export type CsvReader<Row> = (
  after: string | undefined,
) => Promise<{ items: readonly Row[]; next: string | undefined }>

/** The columns by their names, each with how it is written. */
export type CsvFields<Row> = Readonly<Record<string, (row: Row) => string>>

export type CsvFile<Row> = {
  fileName: string
  fields: CsvFields<Row>
  /**
   * Takes a place among the exports that run, and gives back what frees it.
   * @throws Refusal 'concurrency_limited'
   */
  take(): () => void
}

/** A file of the newest rows, at most {@link csvMax} of them. */
export const listAsCsv = <Row>(read: CsvReader<Row>, file: CsvFile<Row>): Download => ({
  fileName: file.fileName,
  contentType: 'text/csv; charset=utf-8',
  open(signal) {
    const release = file.take()
    signal.addEventListener('abort', release)
    if (signal.aborted) release()
    return write(read, file, signal)
  },
})

async function* write<Row>(
  read: CsvReader<Row>,
  { fields }: CsvFile<Row>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const lineOf = (row: Row) => toLine(Object.values(fields).map((field) => field(row)))
  yield toLine(Object.keys(fields))
  let left = csvMax
  let after: string | undefined
  do {
    const { items, next } = await read(after)
    const lines = items.slice(0, left).map(lineOf)
    if (lines.length > 0) yield lines.join('')
    left -= lines.length
    after = next
    // The embedded database answers at once: between two pages all others get a turn.
    await new Promise((resume) => setImmediate(resume))
  } while (after !== undefined && left > 0 && !signal.aborted)
}
