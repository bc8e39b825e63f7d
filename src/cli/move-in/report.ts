/** Says what comes over from another gateway, what was spent there, and what does not fit. */
import { entryText, inlineText } from '../../config/model-text.ts'
import { inDollars } from '../../config/money-values.ts'
import { toJsonInteger, toUsd } from '../../kernel/money.ts'
import type { TomlTable } from '../../models/price-files/price-entry.ts'
import type { Outcome } from './apply-moves.ts'
import type { Proposal } from './config-proposal.ts'
import type { SourceContents } from './found.ts'
import type { MovePlan } from './plan-moves.ts'

export type Report = {
  found: SourceContents
  proposal: Proposal
  plan?: MovePlan
  present?: ReadonlyMap<string, unknown>
  /** Undefined for a dry run and without an account. */
  outcome?: Outcome
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n)

export function reportJson({ found, proposal, plan, present, outcome }: Report, isDry: boolean) {
  const { diff, upstreams, aliases, raised } = proposal
  const fresh = plan?.keys.filter(({ id }) => !present?.has(id)).length ?? 0
  return {
    dry_run: isDry,
    models: {
      added: diff.added.map(({ id }) => id),
      changed: diff.changed.map(({ id }) => id),
      unchanged: diff.unchanged,
    },
    upstreams: upstreams.map((one) => String(one['id'])),
    aliases,
    max_keys: Object.fromEntries(raised),
    keys: outcome
      ? { created: outcome.created, updated: outcome.updated, unchanged: outcome.unchanged }
      : { created: fresh, present: (plan?.keys.length ?? 0) - fresh },
    granted_nusd: toJsonInteger(
      outcome?.granted ?? sum(plan?.grants.map(({ amount }) => amount) ?? []),
    ),
    balances: (plan?.grants ?? []).map(({ source, account, balance }) => ({
      ...{ source, account, balance_nusd: toJsonInteger(balance) },
    })),
    activity: found.spent.map(({ name, amount }) => ({
      ...{ name, spent_nusd: toJsonInteger(amount) },
    })),
    spent_there_nusd: toJsonInteger(sum(found.owners.map(({ spent }) => spent))),
    left: [...found.misfits].map(([why, what]) => ({ why, what })),
  }
}

/** How many names a line of the report has. */
const namesMost = 8

export function reportLines({ found, proposal, plan, present, outcome }: Report, isDry: boolean) {
  const { diff, upstreams, aliases, raised } = proposal
  const lines = [
    `Models: ${diff.added.length} new, ${diff.changed.length} with other prices, ` +
      `${diff.unchanged} as they are. Servers: ${upstreams.length} new. ` +
      `Aliases: ${Object.keys(aliases).length} new.`,
  ]
  for (const [name, keys] of raised) lines.push(`The plan ${name} now allows ${keys} keys.`)
  if (plan) {
    const spent = toUsd(sum(found.owners.map((owner) => owner.spent)))
    const fresh = plan.keys.filter(({ id }) => !present?.has(id)).length
    const { created, updated, unchanged } = outcome ?? {
      ...{ created: fresh, updated: 0, unchanged: plan.keys.length - fresh },
    }
    const parents = plan.keys.filter(({ isParent }) => isParent).length
    const granted = outcome?.granted ?? sum(plan.grants.map(({ amount }) => amount))
    lines.push(
      `Keys: ${created} new, ${updated} updated, ${unchanged} as they are; ${parents} of them ` +
        'are parents of users and teams.',
      `Balances there: ${toUsd(sum(plan.grants.map(({ balance }) => balance)))} USD. ` +
        `${isDry ? 'To grant' : 'Granted'} now: ${toUsd(granted)} USD.`,
      `Spent there, and not booked here: ${spent} USD.`,
    )
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

/** Prints the additions to the configuration as TOML. */
export function tomlOf({ diff, upstreams, aliases, raised }: Proposal): string {
  const table = (name: string, entry: TomlTable): string =>
    `[[${name}]]\n${Object.entries(entry)
      .map(([key, value]) => `${key} = ${inlineText(value)}\n`)
      .join('')}`
  const plans = [...raised].map(([id, keys]) =>
    table('plans', { id, limits: { max_keys: BigInt(keys) } }),
  )
  const changed = diff.changed.map(({ id, set, remove }) => {
    const lines = Object.entries(set).map(([name, value]) => `${name} = ${inlineText(value)}\n`)
    const gone = remove.map((name) => `# ${name} is removed\n`)
    return `# changed\n[[models]]\nid = ${inlineText(id)}\n${[...lines, ...gone].join('')}`
  })
  const named = Object.entries(aliases).map(([name, id]) => `${inlineText(name)} = "${id}"\n`)
  return [
    ...upstreams.map((one) => table('upstreams', one)),
    ...diff.added.map((entry) => entryText(inDollars(entry))),
    ...changed,
    ...plans,
    ...(named.length === 0 ? [] : [`[aliases]\n${named.join('')}`]),
  ].join('\n')
}
