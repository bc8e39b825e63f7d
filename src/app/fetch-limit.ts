/** Raises the limit of Bun's fetch by replacing the process before it serves. */

/** Bun takes a larger number for none and falls back to 256. */
const mostRequests = '65535'
const name = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/**
 * Bun's fetch runs 256 requests at once unless this variable is set before the process starts,
 * and slow upstreams would starve all others; how many there may be is for `limits.admission` to
 * say. So a process that is to serve replaces itself, before it locks or listens; nothing changes
 * for its supervisor. Images and units set the variable, and so need no replacement. A process that
 * cannot replace itself, as under an emulator of another processor, goes on with Bun's limit.
 */
export function raiseFetchLimit(): void {
  const given = process.argv.slice(2)
  const isServing = given[0] === undefined || given[0] === 'serve' || given[0].startsWith('-')
  if (!isServing || process.env[name] === mostRequests || !process.execve) return
  const own = Bun.main.startsWith('/$bunfs/') ? [] : [Bun.main]
  const argv = [process.execPath, ...own, ...(given.length > 0 ? given : ['serve'])]
  const env = { ...process.env, [name]: mostRequests } as Record<string, string>
  try {
    process.execve(process.execPath, argv, env)
  } catch {
    process.stderr.write(`${name} could not be raised: set it to ${mostRequests} yourself\n`)
  }
}
