/** The audit's checks of what a service says it owes, and of what lies in its treasury. */

import { type Chain, ChainReverted, ChainUnavailable } from '../../kernel/chain.ts'
import type { Millis } from '../../kernel/clock.ts'
import { toHex } from '../../kernel/hex.ts'
import { toUsd } from '../../kernel/money.ts'
import { fail, type Outcome, pass, skip, told } from '../../verify/checks.ts'
import {
  checkLiabilities,
  type Liabilities,
  liabilitiesDigest,
  parseLiabilitiesFile,
} from '../../verify/liabilities.ts'
import { decimalsOf, holdingsOf, nowhere } from '../liabilities/treasury.ts'
import { readLiabilitiesPage, WrongAnswer } from './answers.ts'
import { continues, headOf, trustedSigners } from './check-log.ts'
import { count, type Service, ServiceTrouble, type ServiceView } from './service-view.ts'

/** The statements of a service, newest first; undefined where it makes none. */
export type PublishedStatements = readonly Liabilities[] | undefined

/** Every statement of a service. @throws ServiceTrouble, WrongAnswer */
export async function readStatements(service: Service): Promise<PublishedStatements> {
  const statements: Liabilities[] = []
  try {
    for (let after = ''; ; after = `&after=${statements.at(-1)?.number}`) {
      const page = readLiabilitiesPage(await service.get(`/liabilities?limit=100${after}`))
      statements.push(...page.statements)
      if (!page.hasMore) return statements
      // Numbers fall one by one, which also bounds the pages.
      if (page.statements.length === 0 || brokenAt(statements)) throw new WrongAnswer(broken)
    }
  } catch (error) {
    if (error instanceof ServiceTrouble && error.isMissing) return undefined
    throw error
  }
}

const broken = 'The liabilities statements are not numbered one by one.'

/** The first statement that does not follow the one below it. */
const brokenAt = (statements: readonly Liabilities[]): Liabilities | undefined =>
  statements.find(({ number }, i) => {
    const older = statements[i + 1]
    return older && BigInt(older.number) !== BigInt(number) - 1n
  })

/** How often a service must publish its liabilities, as the auditor demands; times in ms. */
export type StatementSchedule = { everyMs: number; now: Millis }

/** Each statement names the one before, and those of this log are signed leaves of it. */
export async function checkStatements(
  service: Service,
  view: ServiceView,
  statements: PublishedStatements,
  every?: StatementSchedule,
): Promise<Outcome> {
  const none = 'The service publishes no liabilities.'
  if (!statements) return every ? fail(none) : skip(none)
  const [newest] = statements
  if (!newest) return pass('The service has not published its liabilities yet.')
  if (brokenAt(statements) || statements.at(-1)?.number !== '1') return fail(broken)
  for (const [i, statement] of statements.entries()) {
    const older = statements[i + 1]
    const previous = older ? toHex(liabilitiesDigest(older)) : `0x${'00'.repeat(32)}`
    if (statement.previous !== previous) {
      return fail(`Statement ${statement.number} does not name the one before it.`)
    }
    if (older && BigInt(older.as_of) > BigInt(statement.as_of)) {
      return fail(`Statement ${statement.number} is older than the one before it.`)
    }
  }
  const missing = every && missingIn(statements, every)
  if (missing) return fail(missing)
  const own = statements.filter(({ issuer }) => issuer === view.origin)
  for (const statement of own) {
    const wrong = await wrongIn(service, view, statement)
    if (wrong) return fail(`Statement ${statement.number} of the liabilities: ${wrong}`)
  }
  const total = `${toUsd(BigInt(newest.total_nusd))} USD`
  const what = `${count(own.length, 'statement')} in this log; the newest is of ${total}`
  return pass(`${what} at ${new Date(Number(newest.as_of)).toISOString()}.`)
}

/**
 * The first interval without a statement, counted from 1970: between two of them, or of those that
 * ended since the newest. A service makes one at the beginning of each.
 */
function missingIn(
  statements: NonNullable<PublishedStatements>,
  { everyMs, now }: StatementSchedule,
): string | undefined {
  const placeOf = (time: number) => Math.floor(time / everyMs)
  const places = [placeOf(now), ...statements.map(({ as_of: asOf }) => placeOf(Number(asOf)))]
  const at = places.findIndex((place, i) => place - (places[i + 1] ?? place) > 1)
  if (at < 0) return undefined
  const before = places[at + 1] ?? 0
  const [from, to] = [before + 1, before + 2].map((place) =>
    new Date(place * everyMs).toISOString(),
  )
  return `No liabilities statement is of the time from ${from} to ${to}.`
}

/** The fault of the file of a statement; undefined if it holds under the audited head. */
async function wrongIn(
  service: Service,
  view: ServiceView,
  statement: Liabilities,
): Promise<string | undefined> {
  const { origin: issuer, checkpoint } = view
  const value = await service.get(`/liabilities/${statement.number}`)
  const checks = checkLiabilities(value, { signers: trustedSigners(view), issuers: [issuer] })
  const failed = checks.find(({ status }) => status === 'fail' || status === 'unavailable')
  if (failed) return failed.reason
  const file = parseLiabilitiesFile(value, [])
  if (!file || toHex(liabilitiesDigest(file.statement)) !== toHex(liabilitiesDigest(statement))) {
    return 'its file says something else than the list.'
  }
  // The first head was signed a moment ago: there is none to compare with.
  if (!checkpoint) return undefined
  const [one, other] = [headOf(file.log.checkpoint), headOf(checkpoint)].sort(
    (a, b) => a.size - b.size,
  )
  return one && other && (await continues(service, one, other))
    ? undefined
    : 'its head of the log is of another log than the audited one.'
}

/**
 * The treasury of the newest statement covers the liabilities, and held what it says. An RPC server
 * that has forgotten that block leaves the second undecided.
 * @throws ChainUnavailable
 */
export async function checkHoldings(
  chain: Pick<Chain, 'call'>,
  statements: PublishedStatements,
): Promise<Outcome> {
  const newest = statements?.[0]
  if (!newest) return skip('The service publishes no liabilities.')
  const { treasury, token, block, treasury_nusd: claimed, total_nusd: total } = newest
  if (treasury === nowhere) return skip('The newest statement names no treasury.')
  try {
    const asked = { holder: treasury, token, decimals: await decimalsOf(chain, token) }
    const then = block === '0' ? undefined : await heldThen(chain, asked, Number(block))
    if (then !== undefined && String(then) !== claimed) {
      const what = `At block ${told(block)} the treasury held ${toUsd(then)} USD`
      return fail(`${what}; the service says ${toUsd(BigInt(claimed))}.`)
    }
    const held = await holdingsOf(chain, asked, 'latest')
    const what = `The treasury ${treasury} holds ${toUsd(held)} USD; the liabilities are`
    const words = `${what} ${toUsd(BigInt(total))}.`
    return held >= BigInt(total) ? pass(words) : fail(words)
  } catch (error) {
    if (!(error instanceof ChainReverted)) throw error
    return fail(`The chain has no token at ${token}.`)
  }
}

async function heldThen(
  chain: Pick<Chain, 'call'>,
  asked: Parameters<typeof holdingsOf>[1],
  block: number,
): Promise<bigint | undefined> {
  try {
    return await holdingsOf(chain, asked, block)
  } catch (error) {
    if (error instanceof ChainUnavailable && error.reason === 'refused') return undefined
    throw error
  }
}
