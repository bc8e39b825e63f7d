/** Whether this run is of the nightly tier (`bun run test:all`), which repeats what others do once. */
export const isNightly = process.env['TEST_TIER'] === 'nightly'

/** What a test uses in every run, and the larger value that the nightly tier uses in its place. */
export const nightly = <T>(few: T, many: T): T => (isNightly ? many : few)
