/** A receipt as a slip of paper. */
import type { Nusd } from '../../kernel/money.ts'
import type { StampWords } from '../../verify/shown-checks.ts'
import { Amount } from './amount.tsx'
import { shortHash, Whole } from './hash.tsx'
import type { Child } from './jsx-runtime.ts'
import { Rosette } from './rosette.tsx'
import { ExactTime } from './when.tsx'

type SlipProps = {
  id: string
  /** `h1` where the page is about this receipt. */
  heading?: 'h1' | 'h2'
  /** Milliseconds since 1970. */
  at: number
  /** What the signature signs: the figure is drawn from it. */
  digest: string
  /** A value of undefined is hidden. */
  lines: readonly (readonly [name: Child, value: Child])[]
  /** Undefined where it is hidden. */
  total: Nusd | undefined
  /** What stands instead of what is hidden. */
  hidden?: string
  /** Small print. */
  note?: Child
  /** A {@link ServerWord}: the stamp itself is the browser's alone. */
  stamp?: Child
}

/** A receipt as a slip of paper: it stays paper in the dark, and prints as it looks. */
export const Slip = (props: SlipProps) => {
  const { id, heading: Heading = 'h1', at, digest, lines, total, hidden, note, stamp } = props
  return (
    <div class="slipwrap">
      <article class="slip" aria-labelledby="slip-id">
        <div class="mark">
          <Rosette hash={digest} label={`Figure of the digest ${shortHash(digest)}`} />
        </div>
        <p class="quiet">
          <small>Receipt</small>
        </p>
        <Heading id="slip-id">{id}</Heading>
        <p class="quiet">
          <ExactTime at={at} />
        </p>
        <dl>
          {lines.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              {value === undefined ? <dd class="hid">{hidden}</dd> : <dd>{wholeHash(value)}</dd>}
            </>
          ))}
        </dl>
        <div class="total">
          <span>Total</span>
          {total === undefined ? <small class="hid">{hidden}</small> : <Amount nusd={total} />}
        </div>
        {note ? <p class="print quiet">{note}</p> : null}
        <div class="stampplace" id="stamp">
          {stamp}
        </div>
      </article>
    </div>
  )
}

/** A digest is longer than a line of a narrow slip. */
const wholeHash = (value: Child): Child =>
  typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value) ? <Whole value={value} /> : value

/**
 * What a server may say where the stamp goes: in plain type that it checked, or that the receipt
 * does not hold. Where scripts run the place stays empty for the browser's own stamp.
 */
export const ServerWord = ({ of, always }: { of: StampWords | undefined; always?: boolean }) => {
  if (!of) return null
  const said = of.isBad ? (
    <Stamp against={of.against} bad>
      {of.words}
    </Stamp>
  ) : (
    <p class="serverword">
      Checked by the server
      <small>{of.against}</small>
    </p>
  )
  return always ? said : <noscript>{said}</noscript>
}

/** The mark in red, and against what; `bad` when the receipt does not hold. */
export const Stamp = ({ children, against, bad }: StampProps) => (
  <div class={['stampmark', bad && 'bad']}>
    {children}
    <small>{against}</small>
  </div>
)

type StampProps = { children: Child; against: Child; bad?: boolean }
