/** Mounts the pages at the first request that needs one. */
import type { AnyElysia } from 'elysia'

const restOf = new WeakMap<AnyElysia, () => Promise<void>>()

/**
 * Lets an app be served before all of it is mounted. `load` brings the rest, none of which may be
 * for programs, at the first request for it. A failed load is tried again at the next request;
 * mounting happens once, because its first half cannot be taken back.
 */
export function mountLater(app: AnyElysia, load: () => Promise<() => void>): void {
  let mounting: Promise<void> | undefined
  restOf.set(app, () => {
    mounting ??= load().then(
      (mount) => {
        mount()
        restOf.delete(app)
      },
      (error: unknown) => {
        mounting = undefined
        throw error
      },
    )
    return mounting
  })
}

/** Mounts the rest of an app, once for all callers; undefined if all of it is mounted. */
export const restToMount = (app: AnyElysia): (() => Promise<void>) | undefined => restOf.get(app)

type AnswerFailure = (request: Request, error: unknown) => Response

const failureOf = new WeakMap<AnyElysia, AnswerFailure>()

/** Sets an app's answer to failures before any route ran. */
export const sayFailures = (app: AnyElysia, answer: AnswerFailure): void =>
  void failureOf.set(app, answer)

/** The app's answer to a failure before any route ran; an empty 500 if it noted none. */
export const answerFailure = (app: AnyElysia, request: Request, error: unknown): Response =>
  failureOf.get(app)?.(request, error) ?? new Response(null, { status: 500 })

/** The app with all its routes, for code that lists them or asks it without a listener. */
export async function wholeApp<App extends AnyElysia>(app: App): Promise<App> {
  await restToMount(app)?.()
  return app
}
