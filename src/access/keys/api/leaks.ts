/** POST /leaks: pauses the key of a leaked secret, and never says whether there was one. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { readJson } from '../../../web/http/body.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { keylessGuard } from '../../../web/http/keyless.ts'
import { reportLeak } from '../leak.ts'
import { leakBody } from './leak-body.ts'

/** Bytes of a body. */
const bodyBytes = 4096

/** Every report is answered after this time, in ms; the look-up takes a few of them. */
const answerMs = 250

export const leaksApi = (deps: Deps) =>
  new Elysia({ name: 'leaks-api' }).use(keylessGuard(deps)).post(
    '/leaks',
    async ({ request, set }) => {
      const { value } = await readJson(request, { limitBytes: bodyBytes })
      const { secret } = checkBody(leakBody, value)
      // Waits no longer than the fixed time, so that timing does not reveal a hit.
      void reportLeak(deps, secret).catch((error: unknown) => deps.log.error('leak.failed', error))
      await Bun.sleep(answerMs)
      set.status = 202
      return { object: 'leak_report', status: 'received' }
    },
    { isKeyless: true, parse: 'none' },
  )
