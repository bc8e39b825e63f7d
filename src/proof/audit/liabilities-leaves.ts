/** Finds liabilities statements in the entries of a log, and those that no list has. */
import { type Hex, toHex } from '../../kernel/hex.ts'
import { fail, type Outcome, pass, skip } from '../../verify/checks.ts'
import { liabilitiesDigest } from '../../verify/liabilities.ts'
import { leafKinds } from '../../verify/merkle.ts'
import { readStatements } from './check-statements.ts'
import { count, type Service } from './service-view.ts'

/** Leaves of one kind, seen while a log is read. */
export type LiabilitiesLeaves = {
  seeEntry(index: number, bytes: Uint8Array): void
  /**
   * Whether the service lists a statement for each leaf. The list is read after the log, so that a
   * statement made meanwhile is in it. @throws ServiceTrouble, WrongAnswer
   */
  check(service: Service | undefined, origin: string): Promise<Outcome>
}

export function liabilitiesLeaves(): LiabilitiesLeaves {
  /** Their indexes by the digests of their statements. */
  const leaves = new Map<Hex, number>()
  return {
    seeEntry(index, bytes) {
      if (bytes[0] === leafKinds.liabilities) leaves.set(toHex(bytes.subarray(1)), index)
    },
    async check(service, origin) {
      if (leaves.size === 0) return pass('The log has no liabilities statement.')
      const found = `${count(leaves.size, 'liabilities statement')}`
      if (!service) return skip(`The log has ${found}: --base compares them with the listed ones.`)
      const statements = (await readStatements(service)) ?? []
      const own = statements.filter(({ issuer }) => issuer === origin)
      const listed = new Set(own.map((statement) => toHex(liabilitiesDigest(statement))))
      const unlisted = [...leaves].filter(([digest]) => !listed.has(digest))
      const [first] = unlisted
      if (!first) return pass(`The log has ${found}, all of them listed.`)
      const more = unlisted.length === 1 ? '' : ` So are ${unlisted.length - 1} more.`
      const what = `Leaf ${first[1]} of the log is a liabilities statement`
      const why = `that the service hides: GET /liabilities lists none with the digest ${first[0]}`
      const advice = 'Keep the entry, its tiles and the checkpoint as evidence.'
      return fail(`${what} ${why}.${more} ${advice}`)
    },
  }
}
