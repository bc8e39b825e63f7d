import { eq } from 'drizzle-orm'
import { hashSecret } from '../../src/access/keys/secret.ts'
import type { Db } from '../../src/storage/db/engine/db.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { toRunRow } from '../../src/storage/holds/open-runs.ts'
import type { Model } from './model.ts'

/** Secrets, outputs of runs in the background and texts: what is kept is what the model keeps. */
export async function keptFaults(db: Db, m: Model): Promise<string[]> {
  const { accountSettings, keySecrets, openRuns, quotes, runs, runTexts } = db.tables
  const found = await db.read(function* (q) {
    const open = yield* rows(q.select().from(openRuns).where(eq(openRuns.background, true)))
    const ended = yield* rows(q.select().from(runs).where(eq(runs.background, true)))
    return {
      secrets: yield* rows(q.select().from(keySecrets)),
      behind: [...open.map(toRunRow), ...ended],
      texts: yield* rows(q.select().from(runTexts)),
      quotes: yield* rows(q.select().from(quotes)),
      settings: yield* rows(q.select().from(accountSettings)),
    }
  })
  const secrets = [...m.keys.values()].flatMap((key) =>
    key.secrets.map(({ secret, until }) => ({ keyId: key.id, secret, until })),
  )
  const known = new Set(secrets.flatMap(({ secret }) => (secret ? hashSecret(secret) : [])))
  const nameOf = (hash: string) => (known.has(hash) ? hash : 'kept secret')
  return [
    ...differences(
      'secret',
      found.secrets.map((one) => `${one.keyId} ${nameOf(one.hash)} ${one.validUntil}`),
      secrets.map(({ keyId, secret, until }) => {
        return `${keyId} ${secret ? hashSecret(secret) : 'kept secret'} ${until}`
      }),
    ),
    ...differences(
      'run in the background',
      found.behind.map(({ id, keyId, status, output, outputUntil }) => {
        return `${id} ${keyId} ${status} ${lettersIn(output)} ${outputUntil}`
      }),
      [...m.background].map(([id, { key, status, letters, until }]) => {
        return `${id} ${key} ${status} ${letters} ${until}`
      }),
    ),
    ...differences(
      'text',
      found.texts.map(({ runId, accountId, output, until }) => {
        return `${runId} ${accountId} ${lettersIn(output)} ${until}`
      }),
      [...m.texts].map(
        ([id, { account, letters, until }]) => `${id} ${account} ${letters} ${until}`,
      ),
    ),
    ...differences(
      'quote',
      found.quotes.map(({ id, uses, used, expiresAt }) => `${id} ${used} of ${uses} ${expiresAt}`),
      [...m.quotes].map(([id, { uses, used, expiresAt }]) => {
        return `${id} ${used} of ${uses} ${expiresAt}`
      }),
    ),
    ...differences(
      'retention',
      found.settings.map(({ accountId, retention }) => `${accountId} ${retention}`).filter(isKept),
      [...m.accounts].map(([id, { retention }]) => `${id} ${retention}`).filter(isKept),
    ),
  ]
}

const isKept = (line: string): boolean => !line.endsWith(' none')

function lettersIn(output: unknown): number | null {
  const [choice] = (output ?? []) as { message: { content: string } }[]
  return choice ? choice.message.content.length : null
}

function differences(what: string, is: string[], says: string[]): string[] {
  const [there, expected] = [new Set(is), new Set(says)]
  return [
    ...is.filter((line) => !expected.has(line)).map((line) => `${what} ${line} is not the model's`),
    ...says.filter((line) => !there.has(line)).map((line) => `${what} ${line} is missing`),
    ...(is.length === says.length ? [] : [`${is.length} of ${what}, not ${says.length}`]),
  ]
}
