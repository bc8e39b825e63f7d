/** Facts of the executable and of the machine it runs on: `version --json`. */

import { commit, version } from '../app/version.ts'
import { kindOfCurve } from '../proof/signer/secp256k1.ts'
import { schemaSteps } from '../storage/db/schema/migrate.ts'
import { neededStep } from '../storage/db/schema/schema-needs.ts'

declare const COUNTERFOIL_BUILD_PLATFORM: string | undefined

export type BuildFacts = {
  version: string
  /** The commit it was built from, `-dirty` when files differed; null from source. */
  commit: string | null
  bun: string
  /** The platform it was built for, as releases name it; null from source. */
  platform: string | null
  arch: string
  /** The C library of this machine with its version; null where there is none of Linux. */
  libc: string | null
  /** The curve that signs receipts: a C library, or JavaScript where no build of it runs. */
  curve: 'native' | 'portable'
  /** Its schema, and the oldest step with which a build can serve a database of it. */
  schema: { step: string; needed: string }
}

/** Loads the native curve, so it is for a command and not for a request. */
export const buildFacts = (): BuildFacts => ({
  version,
  commit,
  bun: Bun.version,
  platform:
    typeof COUNTERFOIL_BUILD_PLATFORM === 'undefined' ? null : COUNTERFOIL_BUILD_PLATFORM || null,
  arch: process.arch,
  libc: libcOf(process.report.getReport()),
  curve: kindOfCurve(),
  schema: { step: schemaSteps.at(-1) ?? '', needed: neededStep },
})

/** The C library that a report of Node's names: glibc with its version, else musl on Linux. */
export function libcOf(report: unknown): string | null {
  const { header } = report as { header?: { platform?: string; glibcVersionRuntime?: string } }
  if (header?.glibcVersionRuntime) return `glibc ${header.glibcVersionRuntime}`
  return header?.platform === 'linux' ? 'musl' : null
}
