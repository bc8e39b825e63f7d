/** Keeps what a witness signed: one SQLite file, each head on the disk before its signature. */
import { Database } from 'bun:sqlite'
import type { SeenLogHead } from './submission.ts'

/** The head of a log that a witness signed last. */
export type SignedSighting = SeenLogHead & { cosigned: string; at: number }

export type WitnessStore = {
  /** The name that this file was made for; the given one if it is new. */
  nameOf(given: string): string
  /**
   * Decides on a head of a log and stores what is to be signed, in one synchronous transaction that
   * is on the disk when it returns. Nothing is stored where `decide` gives no row.
   * @throws the error of SQLite; then nothing may be signed.
   */
  decide<T>(
    origin: string,
    decide: (seen: SeenLogHead | undefined) => { value: T; row?: SignedSighting },
  ): T
  /** The newest head of a log with this hash of its origin, as it was signed. */
  find(originHash: string): SignedSighting | undefined
  close(): void
}

const schema = `
create table if not exists facts (name text primary key, value text not null) strict;
create table if not exists logs (
  origin text primary key, hash text not null unique, size integer not null, root blob not null,
  note text not null, cosigned text not null, at integer not null
) strict;`

type Row = { size: bigint; root: Uint8Array; note: string; cosigned: string; at: bigint }

/** `hashOf` gives the name of a log in addresses: SHA-256 of its origin in hex. */
export function openWitnessStore(file: string, hashOf: (origin: string) => string): WitnessStore {
  const db = new Database(file, { create: true, strict: true, safeIntegers: true })
  // A COMMIT returns when its pages and the name of its journal are on the disk.
  db.run('PRAGMA journal_mode = DELETE')
  db.run('PRAGMA synchronous = EXTRA')
  db.run('PRAGMA busy_timeout = 5000')
  db.run(schema)
  const findLog = db.query<Row, [string]>(
    'select size, root, note, cosigned, at from logs where origin = ?',
  )
  const findHash = db.query<Row, [string]>(
    'select size, root, note, cosigned, at from logs where hash = ?',
  )
  const keep = db.query(`insert into logs (origin, hash, size, root, note, cosigned, at)
    values (?, ?, ?, ?, ?, ?, ?) on conflict (origin) do update set size = excluded.size,
    root = excluded.root, note = excluded.note, cosigned = excluded.cosigned, at = excluded.at`)
  const toSigned = (row: Row): SignedSighting => ({
    ...row,
    root: row.root.slice(),
    at: Number(row.at),
  })
  return {
    nameOf(given) {
      db.run("insert into facts values ('name', ?) on conflict do nothing", [given])
      const [row] = db
        .query<{ value: string }, []>("select value from facts where name = 'name'")
        .all()
      return row?.value ?? given
    },
    decide(origin, decide) {
      // Another process on this file waits here, so that two never sign beside each other.
      db.run('BEGIN IMMEDIATE')
      try {
        const found = findLog.get(origin)
        const { value, row } = decide(found ? toSigned(found) : undefined)
        if (row) {
          const { size, root, note, cosigned, at } = row
          keep.run(origin, hashOf(origin), size, root, note, cosigned, at)
        }
        db.run('COMMIT')
        return value
      } catch (error) {
        if (db.inTransaction) db.run('ROLLBACK')
        throw error
      }
    },
    find(originHash) {
      const found = findHash.get(originHash)
      return found ? toSigned(found) : undefined
    },
    close: () => db.close(),
  }
}
