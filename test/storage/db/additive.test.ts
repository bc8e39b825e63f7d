import { describe, expect, test } from 'bun:test'
import { embedMigrations, type Migration } from '../../../src/storage/db/schema/migrations.macro.ts'
import { neededStep } from '../../../src/storage/db/schema/schema-needs.ts'

/** What a build that does not know a step can live with, in the dialects of both engines. */
const additions = [
  /^CREATE TABLE /i,
  // A column that old builds need not name when they insert a row.
  /^ALTER TABLE \S+ ADD (COLUMN )?\S+ [^;]*;?$/i,
  // Not unique: an old build does not know what it must not repeat.
  /^CREATE INDEX /i,
  /^(CREATE|DROP) VIEW /i,
  /^(UPDATE|INSERT INTO) /i,
  /^ALTER TABLE \S+ SET \(autovacuum/i,
]

/** Why a build that does not know the statement cannot live with it; undefined where it can. */
function breach(statement: string, created: ReadonlySet<string>): string | undefined {
  const table = /(?:TABLE|ON|INTO|UPDATE) ["`]?(\w+)["`]?/i.exec(statement)?.[1] ?? ''
  // Old builds do not touch a table that they do not know.
  if (created.has(table)) return undefined
  if (!additions.some((form) => form.test(statement))) return 'changes or removes something'
  const isColumn = /^ALTER TABLE \S+ ADD/i.test(statement)
  if (isColumn && /NOT NULL/i.test(statement) && !/DEFAULT/i.test(statement)) {
    return 'adds a column that old builds leave out'
  }
  return undefined
}

function breachesOf(steps: readonly Migration[]): string[] {
  const created = new Set<string>()
  const found: string[] = []
  for (const { tag, statements } of steps) {
    for (const statement of statements) {
      const table = /^CREATE TABLE ["`]?(\w+)/i.exec(statement)?.[1]
      if (table) created.add(table)
      const why = breach(statement, created)
      if (why) found.push(`${tag} ${why}: ${statement}`)
    }
  }
  return found
}

describe.each(['sqlite', 'pg'] as const)('the migrations of %s', (dialect) => {
  const steps = embedMigrations(dialect)

  test(`behind ${neededStep} only add, so that the release before can serve beside this one`, () => {
    expect(steps.map(({ tag }) => tag)).toContain(neededStep)
    expect(breachesOf(steps.filter(({ tag }) => tag > neededStep))).toEqual([])
  })
})

test.each([
  'ALTER TABLE `keys` ADD `level` integer NOT NULL',
  'ALTER TABLE "keys" RENAME COLUMN "name" TO "title"',
  'ALTER TABLE "keys" DROP COLUMN "name"',
  'ALTER TABLE "keys" ALTER COLUMN "name" SET NOT NULL',
  'CREATE UNIQUE INDEX "keys_by_name" ON "keys" ("name")',
  'DROP TABLE `keys`',
  'DROP INDEX `keys_by_name`',
  'DELETE FROM "keys"',
])('a step that breaks the release before is found: %s', (statement) => {
  expect(breachesOf([{ tag: '9999_later', statements: [statement] }])).toHaveLength(1)
})

test('a step may do what it likes with a table that it makes', () => {
  const statements = [
    'CREATE TABLE `events` (`id` text PRIMARY KEY NOT NULL)',
    'CREATE UNIQUE INDEX `events_by_id` ON `events` (`id`)',
    'ALTER TABLE `keys` ADD `level` integer DEFAULT 0 NOT NULL',
  ]
  expect(breachesOf([{ tag: '9999_later', statements }])).toEqual([])
})
