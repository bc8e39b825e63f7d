/** The version and the commit of this build. */
import packageJson from '../../package.json'

declare const COUNTERFOIL_BUILD_COMMIT: string | undefined

export const version: string = packageJson.version

/** The commit this was built from, `-dirty` when files differed; null when run from source. */
export const commit: string | null =
  typeof COUNTERFOIL_BUILD_COMMIT === 'undefined' ? null : COUNTERFOIL_BUILD_COMMIT || null
