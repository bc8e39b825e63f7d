/** How passports look: names, badges, figures and numbers. */
import { sha256Hex } from '../../../kernel/hash.ts'
import type { PassportRow } from '../../../storage/db/schema/schema.ts'
import { Rosette, RosetteMark } from '../../../web/ui/rosette.tsx'
import { Badge, type Tone } from '../../../web/ui/status.tsx'
import { dateText } from '../../../web/ui/when.tsx'
import type { Status } from '../passport.ts'
import type { Kind } from '../profile.ts'
import type { SpendBand, TrackRecord } from '../record.ts'

export const ownPassportsPath = '/dashboard/passports'
export const ownPassportPath = (handle: string): string => `${ownPassportsPath}/${handle}`
export const passportsAction = '/api/portal/passports'
export const passportAction = (handle: string, verb?: string): string =>
  verb === undefined ? `${passportsAction}/${handle}` : `${passportsAction}/${handle}/${verb}`

export const kindWords: Readonly<Record<Kind, string>> = {
  agent: 'Agent',
  person: 'Person',
  service: 'Service',
}

const statusWords: Readonly<Record<Status, readonly [tone: Tone | undefined, words: string]>> = {
  draft: ['wait', 'Draft'],
  public: ['ok', 'Public'],
  hidden: ['warn', 'Hidden'],
  retired: [undefined, 'Retired'],
}

export const StatusBadge = ({ status }: { status: Status }) => {
  const [tone, words] = statusWords[status]
  return tone === undefined ? <Badge>{words}</Badge> : <Badge tone={tone}>{words}</Badge>
}

/** The input of the figure of a passport. */
export const figureHash = (handle: string): string => sha256Hex(handle)

/** The figure, the name and the handle, as the title of a page. */
export const PassportTitle = ({ of: row }: { of: PassportRow }) => (
  <span class="keyname">
    <Rosette hash={figureHash(row.handle)} />
    <span dir="auto">{row.displayName}</span>
  </span>
)

/** The handle and the name, in a row of a list. */
export const PassportCell = ({ of: row, href }: { of: PassportRow; href: string }) => (
  <span class="name">
    <a href={href}>
      <strong>@{row.handle}</strong>
    </a>
    <small class="quiet" dir="auto">
      {row.displayName}
    </small>
  </span>
)

export const PassportMark = ({ of: { handle } }: { of: PassportRow }) => (
  <RosetteMark hash={figureHash(handle)} />
)

/** 9,991 hundredths of a percent are "99.91%"; without a run there is no rate. */
export const rateText = ({
  success_rate_bps: bps,
}: Pick<TrackRecord, 'success_rate_bps'>): string =>
  bps === null ? 'none yet' : `${(bps / 100).toFixed(2).replace(/\.?0+$/, '')}%`

export const bandWords: Readonly<Record<SpendBand, string>> = {
  none: 'nothing',
  under_1_usd: 'under $1',
  '1_to_10_usd': '$1 to $10',
  '10_to_100_usd': '$10 to $100',
  '100_to_1000_usd': '$100 to $1,000',
  over_1000_usd: 'over $1,000',
}

export const countText = (count: number): string => count.toLocaleString('en-US')

/** The day of a record's time, which is a midnight. */
export const dayText = (at: string | null): string =>
  at === null ? 'none' : dateText(Date.parse(at))
