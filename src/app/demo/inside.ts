/** Calls that a demonstration makes to its own service, inside of this process. */
import type { AnyElysia } from 'elysia'
import { type Call, requestOf } from './people.ts'

export type Inside = {
  call: Call
  isOwn(request: Request): boolean
  /** From the next call on, this app answers. */
  serve(app: AnyElysia): void
}

export function insideOf(origin: string): Inside {
  const own = new WeakSet<Request>()
  let app: AnyElysia | undefined
  return {
    async call(path, asked) {
      const request = requestOf(origin, path, asked)
      own.add(request)
      return app ? app.handle(request) : new Response(null, { status: 503 })
    },
    isOwn: (request) => own.has(request),
    serve(next) {
      app = next
    },
  }
}
