/** Answers a repeated call that made a key: with the key, and without its secret. */
import type { Deps } from '../../../app/deps-port.ts'
import { type Once, onceOf } from '../../../ledger/once.ts'
import type { Call } from '../../../storage/idempotency/call.ts'
import { jsonReply } from '../../../web/http/answer-once.ts'
import { toKeyView } from '../key-view.ts'
import type { ShownKey } from '../shown-key.ts'

/** Answers a repeated call with the key as it was, and without its secret. */
export const onceShown = (
  deps: Pick<Deps, 'replies' | 'settings'>,
  call: Call | undefined,
  status: 200 | 201,
): Once<ShownKey> | undefined =>
  call &&
  onceOf<ShownKey>(deps, call, (shown, now) =>
    jsonReply(status, {}, { ...toKeyView(shown, now), secret: null }),
  )
