import { ofAccess } from './explained-access.ts'
import { liabilitiesRows } from './explained-liabilities.ts'
import { any, bug, faster, nothing, ofVerify, type Row } from './explained-verify.ts'
import type { Mutant } from './mutants.ts'

const perPage = 'A page that is just full is followed by an empty one: the same rows.'

const explained: Record<string, Row[]> = {
  'src/billing/deposits/credit.ts': [
    ['for (let at = 0; at < hashes.length', /< to <=/, nothing],
    [
      'for (const id of await creditSome',
      any,
      'What is confirmed too is compared with its state first: it is another by then.',
    ],
    ["if (row.status === 'credited') return", /false/, 'Of these the query gives final ones only.'],
    ['return amount !== null && isDeepEnough', /&& to/, 'Asked of the chain, and judged again.'],
    [
      'if (amount === null) return false',
      /false/,
      'One without an amount is ignored from the start.',
    ],
    ['held.push(row.id)', any, 'What is confirmed too is compared with its state first.'],
    ['if (final.length > 0)', />/, nothing],
  ],
  'src/billing/deposits/deposit.ts': [
    ['decimals <= 9 ? units', /<= to </, 'Of nine decimals a unit is a nano-dollar either way.'],
  ],
  'src/billing/deposits/payment.ts': [
    ['if (decimals >= 9)', />= to >/, 'Of nine decimals a unit is a nano-dollar either way.'],
  ],
  'src/billing/deposits/reorg.ts': [
    [
      'if (loss === undefined) return',
      /false/,
      'Another node took it away: only the log tells twice.',
    ],
  ],
  'src/web/http/client-address.ts': [
    ['if (blocks.length === 0)', /false/, 'Speed only: none of none is one.'],
  ],
  'src/web/http/body.ts': [
    [
      'if (Array.isArray(node))',
      /false/,
      'Speed only: a list is walked by the names of its places.',
    ],
  ],
  'src/web/http/limits.ts': [
    [
      'if (overMs > 0.001)',
      /> to >=|one more/,
      'A millisecond is not promised: it is there for rounding.',
    ],
    ['return { ok: true, remaining: ', /one more/, 'A millisecond is not promised.'],
    ['if (oldest !== undefined)', /true/, 'What is in no map is taken out of none.'],
    [
      'const oldest = ',
      /\|\| to &&/,
      'What is full again is forgotten without loss, now or later.',
    ],
  ],
  'src/web/http/check-body.ts': [
    ['if (known) return known', /false/, faster],
    ['compiled.set(schema, check)', any, faster],
  ],
  'src/web/http/host.ts': [['let port = -1', any, 'No port is less than nothing.']],
  'src/storage/idempotency/store.ts': [
    ['const dropBatch = 500', any, 'How many go at once is not promised.'],
    ['if (due.length === 0) return 0', any, nothing],
    ['if (runIds.length === 0) return', /false/, nothing],
  ],
  'src/ledger/store/active.ts': [
    ['const active = and(', /without inArray/, 'Counts of other accounts as well, for no use.'],
  ],
  'src/ledger/store/audit.ts': [
    ['const later = and(', any, 'What is read beside it is of the time before, and not added.'],

    ['const point: AuditPoint = ', /one more/, 'Before the first moment is before it.'],
    ['audit.checkTotal(', /one more/, 'The sum of none is said to be 0 by the query itself.'],
    ['if (faults.length === 0)', /false/, 'Speed only: the next start looks at everything again.'],
    ['await db.write(() => writeFact', any, 'Speed only: the next start looks at all again.'],
    ['if (page.length < pageRows)', /< to <=/, perPage],
    ['for (let at = 0; at < moved.length', /< to <=/, nothing],
    ['const page', any, 'How many are read at once is not promised.'],
    ['const lateMs', any, 'A millisecond more of ten minutes is not promised.'],
  ],
  'src/kernel/money.ts': [
    ['const digits = ', /< to <=|one more/, 'Nothing less than nothing is nothing.'],
    ['export const m', /< to <=|> to >=/, 'Of two that are equal either is it.'],
  ],
  'src/ledger/unit-of-work.ts': [
    ['if (open) written.runs.delete', /true/, 'What is in no set is taken out of none.'],
  ],
  'src/ledger/batch-queue.ts': [
    ['const gatherMs', any, 'Speed only: how long commands wait for company.'],
    ['const slowMs', any, 'Speed only: when another batch goes beside a slow one.'],
    ['let lately = ', any, 'Before the first batch: a single command has no company either.'],
    ['if (most > quick)', /true|> to >=/, 'Where no more may fly, slow or not, none does.'],
    ['if (!busy.has(waiting', /true/, 'Speed only: next() asks the same of all that wait.'],
  ],
  'src/ledger/store/load.ts': [
    [
      'const under = and(',
      any,
      'Of the same account anyway; the unit of work returns those below.',
    ],
    ['if (command.below !== undefined)', /true/, nothing],
    ['if (command.secretsOf !== undefined)', /true/, nothing],
    ['if (minting.length > 0)', />|true/, nothing],
    ['if (to !== undefined) named', /true/, nothing],
    ['if (run !== undefined)', /true/, nothing],
    ['if (deposit !== undefined)', /true/, nothing],
    ['if (call !== undefined)', /true/, nothing],

    ['if (about.length > 0)', />|true/, nothing],
    ['if (!tracked.', /true/, 'What is read here was not changed yet: it is set to the same.'],

    [
      '.where(and(eq(keySecrets.keyId',
      /without eq/,
      'Secrets of other keys as well: the unit of work returns those of one.',
    ],
    [
      '.where(and(inArray(subscriptions.accountId',
      /without inArray/,
      'Rows of other accounts as well: taken by their own account, for no use.',
    ],
  ],
  'src/ledger/post.ts': [
    [
      'const alone: BatchLimits',
      any,
      'One writes at a time: how many wait for it is a matter of speed.',
    ],
    [
      'const amongNodes: BatchLimits',
      any,
      'Speed only: each batch is right alone, however many fly.',
    ],
    [
      'const queue = makeBatchQueue(',
      any,
      'Speed only: each batch is right alone, however many fly.',
    ],
  ],
  'src/ledger/store/sums.ts': [
    ['return { balance: ', /one more/, 'There is always a row: the other value is for the type.'],
  ],
  'src/proof/log/store/checkpoint.ts': [['.limit(1)', any, 'One row more is read, for no use.']],
  'src/proof/log/store.ts': [
    ['if (db.exclusive) remembered = frontier', /false/, 'Speed only: the edge is read again.'],
    ['if (lists.length === 0) return before', /false/, nothing],
    ["if (!digest) throw new Error('a run ended without", /false/, bug],

    ['forget()', any, 'The edge is forgotten in any case, also after an error behind it.'],
  ],
  'src/proof/log/store/whole.ts': [
    ['const pageRows', any, 'Speed only: how many rows are read at once.'],
  ],
  'src/proof/log/tree.ts': [
    ['if (from > 0) path.push', /one more/, 'No part of a tree that is left over begins at 1.'],
  ],
  'src/access/plan.ts': [
    ["if (!free) throw new Error('there is no free plan')", /false/, bug],
    ['list: all.toSorted(', /one more/, 'Of a comparison only the sign counts.'],
    ['list: all.toSorted(', /> to >=/, 'A sort asks only which one comes first.'],
    ['since: 0', any, 'A millisecond of 1970: no price was shown before it.'],
  ],
  'src/billing/plans/quote.ts': [
    ['const waits = ', /&& to/, 'Who has nothing has no end, and nothing is before no end.'],
  ],
  'src/billing/plans/renew.ts': [
    ['const batchMax = 100', any, 'How many are looked for at once is not promised.'],
    ['last = due.at(-1)', any, 'The last one is found once more, and twice is once.'],
    ['if (due.length < batchMax) return', any, nothing],
  ],
  'src/billing/plans/subscription.ts': [
    ['if (!account) throw new Error(`a plan for', /false/, bug],
    ['if (availableTo(account) < amount) throw', any, bug],
    [
      "unit.changed('account', account)",
      any,
      'The plan is set next, and the account written with it.',
    ],
  ],
  'src/runs/begin.ts': [
    ['const retention = asked', /reversed/, 'What is kept is asked again when the run ends.'],
  ],
  'src/runs/cancel.ts': [
    ['while (clock.monotonic() < until)', /< to <=/, 'How often it is looked at is not promised.'],
    ['clearTimeout(timer)', any, 'A timer that is not stopped resolves what is resolved already.'],
    ['await Bun.sleep(lookEveryMs)', any, 'How often it is looked at is not promised.'],
    ['for (let from = 0; from < here.length', /< to <=/, nothing],
    ['const settleWithinMs', any, 'A millisecond more of two seconds is not promised.'],
    ['const otherWithinMs', any, 'A millisecond more of five seconds is not promised.'],
    ['const lookEveryMs', any, 'How often it is looked at is not promised.'],
    ['const batch', any, 'How many are asked about at once is not promised.'],
    ['if (asked.length === 0) continue', /false/, nothing],
  ],
  'src/runs/chunks.ts': [
    [
      'if (ending.length === choices.length)',
      /false/,
      'What goes on has no choices: it is not sent.',
    ],
  ],
  'src/runs/ending.ts': [
    ["if (error.reason === 'open')", /one more/, 'A second is the least that is told either way.'],
  ],
  'src/runs/end-abandoned.ts': [
    ['if (open.length > 0) await deps.runs.forgetCancels', />|true/, nothing],
  ],
  ...ofAccess,
  ...ofVerify,
  ...liabilitiesRows,
}

/** Why a mutant may survive; undefined where a test is missing. */
export const explanationOf = ({ file, text, change }: Mutant): string | undefined =>
  explained[file]?.find(([line, changes]) => text.startsWith(line) && changes.test(change))?.[2]

/** Rows whose file or line is not there any more. */
export async function staleRows(root: string): Promise<string[]> {
  const found: string[] = []
  for (const [path, rows] of Object.entries(explained)) {
    const file = Bun.file(`${root}/${path}`)
    const lines = (await file.exists()) ? (await file.text()).split('\n') : []
    for (const [start] of rows) {
      if (!lines.some((line) => line.trim().startsWith(start))) found.push(`${path}: ${start}`)
    }
  }
  return found
}
