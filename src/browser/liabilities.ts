/** The page of liabilities: checks the file of the account on this device. */
import { systemClock } from '../kernel/clock.ts'
import { checkLiabilities } from '../verify/liabilities.ts'
import { type PagePayload, toTrust } from '../verify/page-payload.ts'
import { shownLiabilities } from '../verify/shown-liabilities.ts'
import { checkItem } from './check-parts.ts'
import { byId } from './dom.ts'

type Payload = Pick<PagePayload, 'signers' | 'issuers'> & {
  file: unknown
  account: string
  maxAgeMs: number | null
}

const text = document.getElementById('payload')?.dataset['payload']
if (text) check(JSON.parse(text))

/** The clock is the reader's own: an old statement is old also where the service says otherwise. */
function check({ file, account, signers, issuers, maxAgeMs }: Payload): void {
  const trust = toTrust({ signers, issuers, chain: null })
  const since = maxAgeMs === null ? undefined : systemClock.now() - maxAgeMs
  const checks = shownLiabilities(checkLiabilities(file, { ...trust, account, since }))
  const list = byId('checks', HTMLElement)
  list.replaceChildren(...checks.map(checkItem))
  list.classList.remove('untilhere')
  const told = byId('checked-here', HTMLElement)
  told.classList.remove('unseen')
  told.previousElementSibling?.classList.add('unseen')
}
