/** Keeps two releases from having one version. */

/** Runs git and returns what it prints. @throws Error where it fails */
type Git = (...args: string[]) => string

/**
 * A release that was published has a tag of its version, which stays at its commit for ever.
 * @throws Error when another commit has the tag, or the tags of the project are not at hand
 */
export function assertOwnVersion(version: string, commit: string, git: Git): void {
  const tag = `v${version}`
  if (git('rev-parse', '--is-shallow-repository') === 'true') {
    throw new Error('this clone is shallow: fetch all of it with its tags (git fetch --unshallow)')
  }
  const tags = git('tag', '--list', tag)
  if (tags === '') return
  const at = git('rev-parse', `${tag}^{commit}`)
  if (at === commit) return
  throw new Error(
    `${tag} was released as ${at.slice(0, 12)}: raise the version in package.json, then run ` +
      'bun scripts/fixture.ts',
  )
}
