/** Public receipts as small slips of paper, the newest first. */
import { isHidden, type Receipt } from '../../../verify/receipt.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { Switch } from '../../../web/ui/filters.tsx'
import { Id } from '../../../web/ui/hash.tsx'
import { LiveList } from '../../../web/ui/live-list.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { Rosette } from '../../../web/ui/rosette.tsx'
import { StageBadge } from '../../../web/ui/stage.tsx'
import { Pager } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import type { Heads, PublicPage } from '../overview.ts'
import type { SeenReceipt } from '../recent.ts'
import { hrefOf, type Place, streamOf } from './place.ts'

/** Slips above the log, and on a page of public receipts alone. */
export const slipsBeside = 8
export const slipsMax = 24

export type SlipsView = {
  now: number
  place: Place
  page: PublicPage
  isFirst: boolean
  /** The figure of an empty list, as hex. */
  hash: string
  heads: Heads
}

/** Above the log: the newest few, or nothing before the first one. */
export const NewestSlips = ({ view }: { view: SlipsView }) =>
  view.page.items.length === 0 ? null : (
    <section class="stack" aria-labelledby="slips-title">
      <h2 id="slips-title">Public receipts</h2>
      <Slips view={view} strip />
    </section>
  )

/** Public receipts alone, page by page. */
export function PublicPanel({ view }: { view: SlipsView }) {
  const { page, place, isFirst } = view
  const last = page.items.at(-1)?.shown?.receipt.id
  return (
    <Panel
      id="recent"
      title="Public receipts"
      aside={
        <span class="row">
          <PublicSwitch place={place} />
          {isFirst ? (
            <LiveList stream={streamOf(place, -1)} most={slipsMax} href={hrefOf(place)} />
          ) : null}
        </span>
      }
      foot={
        page.items.length === 0 && isFirst ? null : (
          <Pager
            older={page.hasMore ? hrefOf(place, last) : undefined}
            newest={isFirst ? undefined : hrefOf(place)}
          >
            Their owners show them to everybody.
          </Pager>
        )
      }
    >
      <div id="live-slips">
        <PublicSlips view={view} />
      </div>
    </Panel>
  )
}

/** The part of {@link PublicPanel} that is drawn again when a receipt is published. */
export const PublicSlips = ({ view }: { view: SlipsView }) =>
  view.page.items.length === 0 ? (
    <Empty
      hash={view.hash}
      title={view.isFirst ? 'No public receipts yet' : 'No older receipts'}
      action={
        <a class="btn" href={hrefOf({ ...view.place, isPublicOnly: !view.isFirst })}>
          {view.isFirst ? 'Show all receipts' : 'Newest'}
        </a>
      }
    >
      {view.isFirst
        ? 'A receipt is private until its owner shares it.'
        : 'There are no older public receipts.'}
    </Empty>
  ) : (
    <Slips view={view} />
  )

/** Leaves private receipts out of the list, or brings them back. */
export const PublicSwitch = ({ place }: { place: Place }) => (
  <Switch
    label="Public only"
    isOn={place.isPublicOnly}
    href={hrefOf({ ...place, isPublicOnly: !place.isPublicOnly })}
  />
)

const Slips = ({ view, strip }: { view: SlipsView; strip?: boolean }) => (
  <ul class={['slips bare', strip && 'strip']}>
    {view.page.items.map((seen) => (
      <li>
        <SmallSlip seen={seen} view={view} />
      </li>
    ))}
  </ul>
)

type SlipProps = { seen: SeenReceipt; view: SlipsView }

function SmallSlip({ seen, view }: SlipProps) {
  const { shown, model } = seen
  if (!shown) return null
  const { receipt, digest } = shown
  return (
    <article class="stub">
      <Rosette hash={digest} />
      <div>
        <h3>
          <a href={`/receipts/${receipt.id}`}>
            <Id value={receipt.id} />
          </a>
        </h3>
        <p>{model ?? <span class="quiet">Model hidden</span>}</p>
        <p class="quiet">
          <By receipt={receipt} />
          <When at={Number(receipt.issuedAt)} now={view.now} />
        </p>
      </div>
      <p class="sum">
        <StageOf seen={seen} view={{ heads: view.heads, seen: view.page }} />
        <Total receipt={receipt} />
      </p>
    </article>
  )
}

type StageProps = {
  seen: SeenReceipt
  view: { heads: Pick<Heads, 'log'>; seen: Pick<PublicPage, 'stageOf'> }
}

/** Its state, which an open page moves on by the index; that of a closed log no longer moves. */
export const StageOf = ({ seen, view }: StageProps) => (
  <span data-index={seen.log === view.heads.log ? String(seen.index) : undefined}>
    <StageBadge stage={view.seen.stageOf(seen)} />
  </span>
)

function By({ receipt: { passport } }: { receipt: Receipt }) {
  if (isHidden(passport) || passport.handle === '') return null
  return <a href={`/passports/${passport.handle}`}>@{passport.handle}</a>
}

const Total = ({ receipt: { charge } }: { receipt: Receipt }) =>
  isHidden(charge) ? <span class="quiet">Hidden</span> : <Amount nusd={BigInt(charge.amount)} />
