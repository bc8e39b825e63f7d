/** GET /verify.html: the offline verifier as a file to keep. */
import { Elysia } from 'elysia'

/**
 * `GET /verify.html`: the offline verifier as a file to keep. A download, because its script stands
 * inside of it, which no page of this server may have.
 */
export const verifyPageApi = () =>
  new Elysia({ name: 'verify-page-api' }).get('/verify.html', async ({ set }) => {
    // Imported here, because the file is large and rarely asked for.
    const { verifyPage } = await import('../verify-page.ts')
    set.headers['content-type'] = 'text/html; charset=utf-8'
    set.headers['content-disposition'] = 'attachment; filename="counterfoil-verify.html"'
    set.headers['cache-control'] = 'no-cache'
    return verifyPage
  })
