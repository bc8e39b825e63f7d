/** Links the file of what a list shows. */
import { csvMax } from '../http/csv-download.ts'

/** All that match, not this page alone. */
export const CsvLink = ({ href }: { href: string }) => (
  <a href={href} download="" title={`All that match, up to ${csvMax.toLocaleString('en-US')}`}>
    Export CSV
  </a>
)
