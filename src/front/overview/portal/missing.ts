/** Refuses every path below `/dashboard` that no other page answers. */
import { Elysia } from 'elysia'
import { currentSession, refuseMissing } from '../../../access/accounts/needs-session.ts'
import type { Deps } from '../../../app/deps-port.ts'

/** The refusal keeps the frame of who is signed in. */
export const missingPages = (deps: Deps) =>
  new Elysia({ name: 'missing-pages' }).get('/dashboard/*', async ({ request }) =>
    refuseMissing(deps, request, await currentSession(deps, request)),
  )
