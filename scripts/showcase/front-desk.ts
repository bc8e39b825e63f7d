/** Signs a browser in as one of the test wallets: a link instead of a wallet. Loopback only. */
import type { Person } from '../../src/app/demo/people.ts'

/**
 * Serves one path for each person. A visit signs the wallet's message by itself and leaves the
 * session's cookie, which the service shares because cookies ignore ports.
 */
export function openFrontDesk(origin: string, people: readonly Person[]) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname.slice(1)
      const person = people.find(({ name }) => name.toLowerCase() === path)
      if (!person) return new Response('There is no such person.\n', { status: 404 })
      const agent = request.headers.get('user-agent') ?? undefined
      const headers = new Headers({ location: `${origin}/dashboard` })
      for (const cookie of await person.signIn(agent)) {
        headers.append('set-cookie', `${cookie}; Path=/; HttpOnly; SameSite=Lax`)
      }
      return new Response(null, { status: 303, headers })
    },
  })
  return { origin: `http://localhost:${server.port}`, stop: () => server.stop(true) }
}
