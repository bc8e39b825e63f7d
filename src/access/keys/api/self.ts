import type { Deps } from '../../../app/deps-port.ts'
import { rateHeaders } from '../../../web/http/limits.ts'
import type { Ready, Reply } from '../../../web/http/ready.ts'
import type { Caller } from '../key.ts'
import { keyGate } from '../needs-key.ts'
import type { Counted } from '../rate.ts'
import { selfText } from '../self.ts'

type Needs = Pick<Deps, 'accounts' | 'clock' | 'keys' | 'settings' | 'readCache'>

/**
 * `GET /v1/keys/self` for a caller who is remembered and whom nothing refuses: counted as its route
 * counts it, with the same headers. All others are left to the route.
 */
export function readySelf(deps: Needs): Ready {
  const gate = keyGate(deps)
  let said = ''
  let saidIn: Headers | undefined
  /** What these headers say already is not said again; the same path may be given new ones. */
  const say = (headers: Headers, { rpm, verdict }: Counted): void => {
    const now = `${rpm} ${verdict.remaining} ${Math.ceil(verdict.resetMs / 1000)}`
    if (headers === saidIn && now === said) return
    for (const [name, value] of Object.entries(rateHeaders(rpm, verdict))) headers.set(name, value)
    said = now
    saidIn = headers
  }
  const enter = (caller: Caller, { headers, make }: Reply, text: string | undefined) => {
    if (text === undefined) return undefined
    const counted = gate.enter(caller)
    if (!counted.verdict.ok) return undefined
    say(headers, counted)
    return make(text)
  }
  return {
    path: '/v1/keys/self',
    headers: {},
    answer(request, reply) {
      const caller = gate.known(request, 'also-paused')
      // Whom a limit refuses is not read for.
      if (!caller || !gate.hasRoom(caller)) return undefined
      const text = selfText(deps, caller)
      return text instanceof Promise
        ? text.then((later) => enter(caller, reply, later))
        : enter(caller, reply, text)
    },
  }
}
