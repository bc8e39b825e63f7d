/**
 * `bun scripts/showcase.ts [--data folder] [--port 4700] [--runs 700] [--days 30] [--every 1000]`:
 * a service with a month of use and live traffic, to look at and to photograph. Needs anvil.
 */
import { parseArgs } from 'node:util'
import { startShowcase } from './showcase/start.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    port: { type: 'string', default: '4700' },
    runs: { type: 'string', default: '700' },
    days: { type: 'string', default: '30' },
    /** Milliseconds between two live runs; 0 for none. */
    every: { type: 'string', default: '1000' },
  },
})

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(1)
    console.log('stopping')
    stopping.abort()
  })
}

try {
  const showcase = await startShowcase({
    data: values.data,
    port: Number(values.port),
    runs: Number(values.runs),
    days: Number(values.days),
    everyMs: Number(values.every),
    say: console.log,
    signal: stopping.signal,
  })
  const counts = [...showcase.statuses].map(([status, count]) => `${count} × ${status}`)
  console.log(`${showcase.origin} is open; answers so far: ${counts.join(', ')}`)
  console.log(`data: ${showcase.data}`)
  console.log('Sign in by opening a link. The wallets are test accounts whose keys are public.')
  for (const person of showcase.people) {
    console.log(`  ${person.name.padEnd(5)} ${showcase.signIn(person)}  ${person.wallet.address}`)
  }
  console.log(`${showcase.people[0].name} is the operator. Ctrl-C stops everything.`)
  await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve))
  await showcase.stop()
} catch (error) {
  // A stop while the month is made ends the start.
  if (!stopping.signal.aborted) throw error
}
process.exit()
