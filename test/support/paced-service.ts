import { grant, type Home, type MadeKey, makeHome, makeKey } from './binary.ts'
import { pacedModels, startPacedUpstream } from './paced-upstream.ts'
import { neverOpens } from './runs.ts'
import type { StubUpstream } from './stub-upstream.ts'

export type PacedService = {
  home: Home
  stub: StubUpstream
  key: MadeKey
  /** Its secret. */
  secret: string
  remove(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The grant of the account of {@link makePacedService}, in nano-USD. */
export const credit = 1_000_000_000_000

/** The paced upstream's models. It is this process: a busy one must not leave it alone. */
export const drilledModels = (url: string): string =>
  pacedModels(url).replace('[[models]]', `${neverOpens}\n\n[[models]]`)

/** Rates that nothing here runs into. */
export const roomy = `
[limits]
rpm = 10_000_000
concurrency = 100_000

[[plans]]
id = "free"
limits = { rpm = 10_000_000, concurrency = 100_000 }
`

/** A service of the executable, not started yet: a model server that takes its time, a funded key. */
export async function makePacedService(
  toml: string,
  prepare?: (home: Home) => void,
): Promise<PacedService> {
  const stub = await startPacedUpstream()
  const home = await makeHome(`${toml}\n${drilledModels(stub.url)}`)
  prepare?.(home)
  const key = await makeKey(home)
  await grant(home, '1000.00')
  const remove = async () => {
    await home.remove()
    await stub.stop()
  }
  return { home, stub, key, secret: key.secret, remove, [Symbol.asyncDispose]: remove }
}
