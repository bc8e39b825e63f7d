import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { windowStart } from '../ledger/window.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { keyAuth } from './auth.ts'
import { nextBlock, toAccountView, toChainView, toKeyView, windowOf } from './view.ts'

type Needs = Pick<Deps, 'keys' | 'accounts' | 'clock' | 'settings'>

/** `/v1/keys`: what a key may know of itself. */
export const keysApi = (deps: Needs) =>
  new Elysia({ name: 'keys-api' }).use(keyAuth(deps)).get(
    '/v1/keys/self',
    async ({ caller }) => {
      const { chain } = caller
      const now = deps.clock.now()
      const [account, windows] = await Promise.all([
        deps.accounts.find(caller.account),
        deps.keys.windows(
          chain.map((key) => ({ keyId: key.id, start: windowStart(key.capWindow, now) })),
        ),
      ])
      if (!account) throw new Error('a key without an account')
      return {
        ...toKeyView(chain, windowOf(caller.key, windows, now), now),
        account: { address: toChecksumAddress(account.id), ...toAccountView(account) },
        chain: toChainView(chain, windows, now),
        next_block: nextBlock(chain, windows, account, now),
      }
    },
    { needsKey: 'also-paused' },
  )
