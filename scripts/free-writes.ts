/**
 * `bun scripts/free-writes.ts`: writes docs/unpaid.md, the list of all that commands of the ledger
 * store, and which of it an account without money may still do once its budget is used up.
 */
import { Glob } from 'bun'

/** A place where a command is posted, and how the budget of free writes treats it. */
export type Place = {
  file: string
  line: number
  treats: 'refused' | 'refused above twice of it' | 'taken' | 'asks itself'
}

/** What each command stores, by its file; in the order of their places in it. */
const kept: Record<string, readonly string[]> = {
  'src/access/accounts/sign-in.ts': ['The account itself, once.'],
  'src/access/keys/change.ts': ['An audit entry of a change of a key.'],
  'src/access/keys/issue.ts': ['A key, its secret, an audit entry and an event.'],
  'src/access/keys/leak.ts': ['A pause, an audit entry and an event; once until it is resumed.'],
  'src/access/keys/pause.ts': [
    'A pause, an audit entry and an event; once until it is resumed.',
    'An audit entry and an event.',
  ],
  'src/access/keys/revoke.ts': ['An audit entry and events; once a key.'],
  'src/access/keys/rotate.ts': ['A secret, an audit entry and an event.'],
  'src/access/members/accept.ts': ['A member, an audit entry, a key of a developer.'],
  'src/access/members/invite.ts': ['An invitation and an audit entry.', 'An audit entry; once.'],
  'src/access/members/remove.ts': ['An audit entry; once a member.'],
  'src/access/members/rename.ts': ['An audit entry.'],
  'src/billing/deposits/claim.ts': ['The operator’s correction.'],
  'src/billing/deposits/credit.ts': ['Money that came in.'],
  'src/billing/deposits/reorg.ts': ['Money that is taken back.'],
  'src/billing/plans/cancel.ts': ['The end of a subscription; once until it is kept.'],
  'src/billing/plans/renew.ts': ['A period that is paid, or its end.'],
  'src/billing/plans/resume.ts': ['An audit entry of a subscription.'],
  'src/billing/plans/subscribe.ts': [
    'A subscription that is paid; what pays nothing is refused above twice of it.',
  ],
  'src/billing/quotes/make-quote.ts': ['A quote, until a minute after it expired if none used it.'],
  'src/billing/refunds/refund.ts': ['The operator’s refund.'],
  'src/billing/vouchers/redeem-voucher.ts': ['Money that came in.'],
  'src/front/admin/suspend.ts': ['The operator’s decision.'],
  'src/front/terminal/sponsor.ts': ['The operator’s money for visitors.'],
  'src/billing/webhooks/take-room.ts': ['An audit entry of a webhook, or a test event of one.'],
  'src/billing/webhooks/webhooks.ts': [
    'A webhook and an audit entry.',
    'A threshold and an audit entry.',
    'Nothing: a flag of the account.',
  ],
  'src/ledger/grant-once.ts': ['The operator’s money, once.'],
  'src/ledger/grant.ts': ['The operator’s money.'],
  'src/ledger/stored-beside.ts': [
    'An audit entry of a share, a passport, a webhook or retention, and what it changes.',
  ],
  'src/proof/passports/bind.ts': ['Audit entries of keys; once.', 'An audit entry of a key.'],
  'src/runs/route.ts': ['Nothing: a larger hold.'],
  'src/runs/background.ts': ['Nothing: the start of a run.'],
  'src/runs/begin.ts': ['An open run, until it ends; free runs are refused.'],
  'src/runs/brake.ts': ['A pause, an audit entry and an event; once until it is resumed.'],
  'src/runs/finish.ts': ['A run and a leaf of the log for ever; texts and answers for a time.'],
  'src/runs/settlement.ts': ['The same.'],
  'src/runs/store-open.ts': ['An open run, until it ends.'],
  'src/runs/shortfall-event.ts': ['An event; once until money comes in.'],
}

/** Ledgers and functions that pass a command on. */
const passing = /^src\/(app\/|ledger\/guard|access\/keys\/command-key)/

export async function placesOfCommands(): Promise<Place[]> {
  const places: Place[] = []
  for (const file of [...new Glob('src/**/*.{ts,tsx}').scanSync()].sort()) {
    if (passing.test(file)) continue
    const lines = (await Bun.file(file).text()).split('\n')
    for (const [at, line] of lines.entries()) {
      if (!/\b(ledger\.post|postForKey)\(/.test(line)) continue
      places.push({ file, line: at + 1, treats: treatOf(lines, at, line) })
    }
  }
  return places
}

/** Reads the members of the command, which stand before its `decide` or where it is made. */
function treatOf(lines: readonly string[], at: number, line: string): Place['treats'] {
  if (/post\(opening\)/.test(line)) return 'asks itself'
  if (/post\(settlement\)/.test(line)) return 'taken'
  if (lines.some((each) => /^ .*\bwhyNoFreeWrites\(/.test(each))) return 'asks itself'
  const isNamed = /post\(\w+\)/.test(line)
  const from = isNamed ? at - 12 : at
  const rest = lines.slice(Math.max(0, from), at + 12).join('\n')
  const members = /decide/.test(rest) ? rest.slice(0, rest.indexOf('decide')) : rest
  if (/\bisRepair\b/.test(members)) return 'refused above twice of it'
  return /\b(isExempt|run|below)\b/.test(members) ? 'taken' : 'refused'
}

/** @throws Error for a command that is not described. */
export function pageOf(places: readonly Place[]): string {
  const rows: string[] = []
  for (const [file, own] of Map.groupBy(places, (place) => place.file)) {
    const words = kept[file]
    if (words?.length !== own.length) {
      throw new Error(
        `${file} posts ${own.length} commands; say in scripts/free-writes.ts what each keeps`,
      )
    }
    for (const [i, { treats }] of own.entries())
      rows.push(`| \`${file.slice(4)}\` | ${words[i]} | ${treats} |`)
  }
  const table = ['| command | keeps | when the budget is used up |', '|---|---|---|', ...rows]
  return `${head}\n${table.join('\n')}\n`
}

const head = `# What an account without money can store

An account may store a bounded amount a UTC day without paying: free runs, quotes, keys and
changes. The settings are those of \`[limits]\` in the [configuration](configuration.md):

- \`free_writes_per_day\`, \`free_bytes_per_day\`: rows and bytes. Beyond them a command is refused
  with 429 and \`Retry-After\` until midnight UTC. A run that holds money is never refused for it,
  nor counted.
- \`unpaid_runs_per_day\`: runs that held money and that the account ended at no cost. Its client
  hung up or cancelled before anything was due, its key was revoked or paused, its session ended, or
  it sent what the model refuses. A run counts too if a step without a price answered it. Failures
  of servers never count. Beyond it runs that would hold money are refused in the same way
  (\`limited_by: "unpaid_runs"\`).
- \`unfunded_runs\`: runs at once while the balance is empty. More are refused before a body is
  read, and such requests wait behind those of accounts that pay.
- \`free_for_all\`: whether built-in models run on https for accounts that never paid.
- \`session_per_minute\`: requests of a wallet for its dashboard.

Each dollar that ever came in adds as many to the budgets of the day; a deposit helps at once. All
nodes share them. Operators see the largest writers of the day under *Administration → Accounts*.

These are the commands of the ledger, as \`bun scripts/free-writes.ts\` finds them. Those that take
rights away, pay or are the operator's own are always taken; each is bounded by what was stored
before.
`

if (import.meta.main) await Bun.write('docs/unpaid.md', pageOf(await placesOfCommands()))
