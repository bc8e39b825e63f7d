/** The page of a receipt: verifies on this device, ticks its checks and only then stamps it. */
import type { ShownCheck } from '../verify/shown-checks.ts'
import { checkItem, landStamp } from './check-parts.ts'
import { byId } from './dom.ts'
import { type Difference, judgePage } from './judge-page.ts'
import { pause } from './motion.ts'

const checks = byId('checks', HTMLElement)
const badge = byId('standing', HTMLElement)
const told = byId('checked-here', HTMLElement)

/** How long it takes from the first look to the stamp, in ms. */
const ticksMs = 600

void check()

async function check(): Promise<void> {
  const found = await judgePage(false).catch(() => undefined)
  // Without the verifier the page keeps the server's word, and says whose it is.
  if (!found) checks.classList.remove('untilhere')
  else await show(found)
}

async function show({ checks: shown, stamp, state, evidence, verdict }: Difference): Promise<void> {
  for (const left of [...checks.children].slice(shown.length)) left.remove()
  const stepMs = ticksMs / (shown.length + 1)
  for (const [i, one] of shown.entries()) {
    await pause(stepMs)
    tick(one, i)
  }
  await pause(stepMs)
  badge.textContent = state
  byId('evidence', HTMLElement).firstElementChild?.replaceChildren(evidence)
  if (stamp?.isBad) badge.className = 'st bad'
  landStamp(stamp)
  told.classList.remove('unseen')
  told.previousElementSibling?.classList.add('unseen')
  if (stamp && !stamp.isBad) await tellOwner(verdict.digest)
}

/** Tells the first steps of the owner what this browser found, until it is noted. */
async function tellOwner(digest: string | null): Promise<void> {
  const { awaited } = byId('payload', HTMLElement).dataset
  if (!awaited || digest === null) return
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const body = JSON.stringify({ run_id: awaited, digest })
  // The next visit tries again.
  await fetch('/api/portal/overview/verify', { method: 'POST', headers, body }).catch(() => {})
}

/** Puts a check where the server's stood: most of them say the same, and nothing moves. */
function tick(one: ShownCheck, i: number): void {
  const made = checkItem(one)
  made.classList.add('here')
  const before = checks.children[i]
  if (before) before.replaceWith(made)
  else checks.append(made)
}
