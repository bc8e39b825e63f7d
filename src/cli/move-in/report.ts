/** Says what comes over from another gateway, what was spent there, and what does not fit. */
import { entryText, inlineText } from '../../config/model-text.ts'
import { inDollars } from '../../config/money-values.ts'
import { toUsd } from '../../kernel/money.ts'
import type { TomlTable } from '../../models/price-files/price-entry.ts'
import type { Outcome } from './apply-moves.ts'
import type { Proposal } from './config-proposal.ts'
import type { Steps } from './decide-moves.ts'
import type { SourceContents } from './found.ts'
import type { MovePlan } from './plan-moves.ts'

export type Report = {
  found: SourceContents
  proposal: Proposal
  plan?: MovePlan | undefined
  steps?: Steps | undefined
  /** Undefined for a dry run and without an account. */
  outcome?: Outcome | undefined
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n)

/** Sums are text: those of many accounts can be more than a JSON integer holds. */
export function reportJson({ found, proposal, plan, steps, outcome }: Report, isDry: boolean) {
  const { added, present, upstreams, aliases, raised } = proposal
  return {
    dry_run: isDry,
    models: { added: added.map(({ id }) => id), present },
    upstreams: upstreams.map((one) => String(one['id'])),
    aliases,
    max_keys: Object.fromEntries(raised),
    keys: keysOf(steps, outcome),
    granted_usd: toUsd(grantedOf(steps, outcome)),
    balances: broughtOf(plan).map(({ source, account, balance }) => ({
      ...{ source, account, balance_usd: toUsd(balance) },
    })),
    activity: found.spent.map(({ name, amount }) => ({
      ...{ name, spent_usd: toUsd(amount) },
    })),
    spent_there_usd: toUsd(spentOf(found)),
    left: [...found.misfits].map(([why, what]) => ({ why, what })),
  }
}

/** The owners with keys or money who have an account here. */
const broughtOf = (plan: MovePlan | undefined) =>
  (plan?.owners ?? []).flatMap(({ account, balance, keys, source }) =>
    account !== undefined && (keys.length > 0 || balance > 0n)
      ? [{ source, account, balance }]
      : [],
  )

const spentOf = ({ owners }: SourceContents): bigint => sum(owners.map(({ spent }) => spent))

const grantedOf = (steps: Steps | undefined, outcome: Outcome | undefined): bigint =>
  outcome?.granted ?? sum(steps?.grants.map(({ amount }) => amount) ?? [])

const keysOf = (steps: Steps | undefined, outcome: Outcome | undefined) => ({
  created: outcome?.created ?? steps?.creates.length ?? 0,
  changed: outcome?.changed ?? steps?.changes.length ?? 0,
  stopped: outcome?.stopped ?? steps?.stops.length ?? 0,
  unchanged: steps?.unchanged ?? 0,
})

/** How many names a line of the report has. */
const namesMost = 8

export function reportLines(report: Report, isDry: boolean): string[] {
  const { found, proposal, plan, steps, outcome } = report
  const { added, present, upstreams, aliases, raised } = proposal
  const lines = [
    `Models: ${added.length} new, ${present} are there and stay as they are. ` +
      `Servers: ${upstreams.length} new. Aliases: ${Object.keys(aliases).length} new.`,
  ]
  for (const [name, keys] of raised) lines.push(`The plan ${name} then allows ${keys} keys.`)
  if (plan) {
    const { created, changed, stopped, unchanged } = keysOf(steps, outcome)
    const owners = broughtOf(plan)
    const balances = toUsd(sum(owners.map(({ balance }) => balance)))
    lines.push(
      `Keys: ${created} new (with a parent for each of ${owners.length} owners), ` +
        `${changed} with tighter limits, ${stopped} stopped, ${unchanged} as they are.`,
      `Balances there: ${balances} USD. ${isDry ? 'To grant' : 'Granted'} now: ` +
        `${toUsd(grantedOf(steps, outcome))} USD.`,
      `Spent there, and not booked here: ${toUsd(spentOf(found))} USD.`,
    )
    for (const { name, does, why } of steps?.stops ?? []) {
      lines.push(`${does === 'pause' ? 'Paused' : 'Revoked'}: ${name}, because ${why}.`)
    }
  }
  for (const { name, amount } of found.spent) {
    lines.push(`Spent there by ${name}, by its activity: ${toUsd(amount)} USD.`)
  }
  for (const [why, what] of found.misfits) {
    const more = what.length > namesMost ? ` and ${what.length - namesMost} more` : ''
    lines.push(`Does not fit: ${why} (${what.slice(0, namesMost).join(', ')}${more}).`)
  }
  return lines
}

/** The additions to the configuration as TOML. */
export function tomlOf({ added, upstreams, aliases, raised }: Proposal): string {
  const table = (name: string, entry: TomlTable): string =>
    `[[${name}]]\n${Object.entries(entry)
      .map(([key, value]) => `${key} = ${inlineText(value)}\n`)
      .join('')}`
  const plans = [...raised].map(([id, keys]) =>
    table('plans', { id, limits: { max_keys: BigInt(keys) } }),
  )
  const named = Object.entries(aliases).map(
    ([name, id]) => `${JSON.stringify(name)} = ${inlineText(id)}\n`,
  )
  return [
    ...upstreams.map((one) => table('upstreams', one)),
    ...added.map((entry) => entryText(inDollars(entry))),
    ...plans,
    ...(named.length === 0 ? [] : [`[aliases]\n${named.join('')}`]),
  ].join('\n')
}
