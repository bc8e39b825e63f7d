import { emptyDatabase } from './postgres.ts'

export type Rewindable = Awaited<ReturnType<typeof rewindable>>

/** A database of its own on the test server that can be put back to what it was. */
export async function rewindable() {
  const { name, url, admin, drop } = await emptyDatabase()

  /** Lets no one in, and throws out who is in, while something is done. */
  const alone = async (work: () => Promise<unknown>) => {
    await admin.unsafe(`alter database ${name} allow_connections false`)
    try {
      await admin`
        select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
      await work()
    } finally {
      await admin.unsafe(`alter database ${name} allow_connections true`)
    }
  }
  /** Two steps cannot be told apart from outside: a connection may still be going. */
  const patiently = async (statement: string) => {
    for (let tries = 0; ; tries++) {
      try {
        return await admin.unsafe(statement)
      } catch (error) {
        if (tries > 50) throw error
        await Bun.sleep(20)
      }
    }
  }

  return {
    url,
    /** Keeps it as it is now. All connections break. */
    keep: () =>
      alone(async () => {
        await patiently(`drop database if exists ${name}_kept`)
        await patiently(`create database ${name}_kept template ${name}`)
      }),
    /** Puts back what was kept: everything after it is forgotten. All connections break. */
    rewind: () =>
      alone(async () => {
        await patiently(`drop database if exists ${name}_lost`)
        await patiently(`alter database ${name} rename to ${name}_lost`)
        await patiently(`alter database ${name}_kept rename to ${name}`)
      }),
    drop: async () => {
      for (const one of [`${name}_kept`, `${name}_lost`]) {
        await admin.unsafe(`drop database if exists ${one} with (force)`)
      }
      await drop()
    },
  }
}
