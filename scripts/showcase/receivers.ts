/** The servers that webhooks of the showcase post to: they answer here, without a network. */

import type { Dice } from '../../src/app/demo/dice.ts'
import type { Post } from '../../src/models/upstream/checked-post.ts'

/** Takes events, and now and then is restarted. */
export const onCallUrl = 'https://hooks.harbor.example/counterfoil'
/** Was taken down without anyone having told its webhook. */
export const booksUrl = 'https://ledger.harbor.example/events'

/** Answers a post as these servers do; `wait` lets time pass in ms. */
export function receivers(dice: Dice, wait: (ms: number) => Promise<void>): Post {
  return async ({ url }) => {
    await wait(dice.between(18, 190))
    if (url === booksUrl) return { error: 'unreachable' }
    return { status: dice.chance(0.04) ? 503 : 204 }
  }
}
