/**
 * Runs a measurement in a process of its own, so that what it loads and keeps is not ours; shows
 * what it says, and gives what it prints as JSON at its end. @throws when it fails.
 */
export async function measureIn<T>(script: string, ...words: (string | number)[]): Promise<T> {
  console.log(`bench/${script} ${words.slice(-2).join(' ')}`)
  const child = Bun.spawn([process.execPath, `bench/${script}`, ...words.map(String)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const printed = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`bench/${script} failed`)
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as T
}
