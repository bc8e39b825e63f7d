/** Plays the seeds that its one argument names, and sends its parent what came of them. */
import { playSeeds } from './simulate.ts'

const tell = (message: unknown): void => void process.send?.(message)

const played = await playSeeds(JSON.parse(process.argv[2] ?? ''), tell)
tell(played)
process.disconnect?.()
