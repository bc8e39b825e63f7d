/** `bun bench/hello.ts`: a greeting by Elysia, which answers to reads are compared with. */
import { Elysia } from 'elysia'

const app = new Elysia().get('/', () => ({ hello: 'world' }))
app.compile()
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: app.fetch })
console.log(server.url.origin)
