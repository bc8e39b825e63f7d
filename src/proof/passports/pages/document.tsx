/** A passport as a document: the photo page, the machine-readable line and stamps of its record. */
import type { PassportRow } from '../../../storage/db/schema/schema.ts'
import { shortHash } from '../../../web/ui/hash.tsx'
import { Rosette } from '../../../web/ui/rosette.tsx'
import { dateText } from '../../../web/ui/when.tsx'
import { bandWords, countText, figureHash, kindWords } from '../portal/passport-state.tsx'
import type { TrackRecord } from '../record.ts'

type DocumentProps = { of: PassportRow; record: TrackRecord }

/** The head of a passport's page. */
export const PassportDocument = ({ of: row, record }: DocumentProps) => (
  <article class="sec passport" aria-labelledby="passport-name">
    <div class="cover">
      <Rosette
        hash={figureHash(row.handle)}
        label={`Figure of the handle ${shortHash(`0x${figureHash(row.handle)}`)}`}
      />
      <small>Passport</small>
    </div>
    <div class="photopage">
      <h1 id="passport-name" dir="auto">
        {row.displayName}
      </h1>
      <dl class="facts">
        <dt>Handle</dt>
        <dd>
          <code>@{row.handle}</code>
        </dd>
        <dt>Kind</dt>
        <dd>{kindWords[row.kind]}</dd>
        <dt>Issued</dt>
        <dd>{dateText(row.createdAt)}</dd>
      </dl>
    </div>
    {record.runs > 0 ? <Stamps record={record} /> : null}
    <p class="mrz" aria-hidden="true">
      {machineLines(row).map((line) => (
        <span>{line}</span>
      ))}
    </p>
  </article>
)

const Stamps = ({ record }: Pick<DocumentProps, 'record'>) => (
  <ul class="visas bare" aria-label="Stamps of its record">
    {stampsOf(record).map(([what, when]) => (
      <li>
        <strong>{what}</strong>
        <small>{when}</small>
      </li>
    ))}
  </ul>
)

/** What the log says of it, as stamps: nothing that has not happened. */
function stampsOf({ runs, first_at, last_at, spend_band, models }: TrackRecord) {
  const stamps: [what: string, when: string][] = []
  if (first_at !== null) stamps.push(['First run', dateText(Date.parse(first_at))])
  for (const round of [1_000_000, 100_000, 10_000, 1000, 100, 10]) {
    if (runs < round) continue
    stamps.push([`${countText(round)} runs`, last_at === null ? '' : dateText(Date.parse(last_at))])
    break
  }
  if (models.length > 1) stamps.push([`${countText(models.length)} models`, 'used'])
  if (spend_band !== 'none') stamps.push(['Spent', bandWords[spend_band]])
  return stamps
}

/** Characters in a line for machines, as in the passports of people. */
const lineLength = 44

type MachineRead = Pick<PassportRow, 'handle' | 'kind' | 'createdAt'>

/** Two lines of capitals, digits and `<`. */
export function machineLines({ handle, kind, createdAt }: MachineRead): [string, string] {
  const plain = (text: string) => text.toUpperCase().replace(/[^A-Z0-9]/g, '<')
  const day = new Date(createdAt).toISOString().slice(2, 10).replaceAll('-', '')
  const digits = figureHash(handle).slice(0, 24)
  const lines = [`P<CFL${plain(handle)}<<${plain(kind)}`, `${plain(digits)}<${day}`] as const
  const [first, second] = lines.map((line) => line.slice(0, lineLength).padEnd(lineLength, '<'))
  return [first ?? '', second ?? '']
}
