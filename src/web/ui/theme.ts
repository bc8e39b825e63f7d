/** The light and dark theme, and its switch. */
import { Elysia } from 'elysia'
import { refuse } from '../../kernel/refusal.ts'
import { readText } from '../http/body.ts'
import { parseForm } from '../http/fields.ts'
import { assertSameOrigin } from '../http/same-origin.ts'
import { isSafeUrl } from './safe-url.ts'
import type { Done } from './toast.tsx'

export const themes = ['system', 'light', 'dark'] as const

/** `system` follows the reader's own setting. */
export type Theme = (typeof themes)[number]

/**
 * How a page looks to this reader. `path` is where the theme switch comes back to, `done` what the
 * reader did just before.
 */
export type Reader = { theme: Theme; path: string; done?: Done | undefined }

export const themeOf = ({ headers }: Request): Theme => {
  const chosen = /(?:^|;\s*)theme=(light|dark)(?:;|$)/.exec(headers.get('cookie') ?? '')?.[1]
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

const contentType = 'application/x-www-form-urlencoded'

/** `POST /theme`: remembers the colours in a cookie and goes back. Nothing else depends on it. */
export const themeRoute = ({ settings }: { settings: { baseUrl: string } }) =>
  new Elysia({ name: 'theme' }).post(
    '/theme',
    async ({ request, set }) => {
      assertSameOrigin(request, settings.baseUrl)
      const form = parseForm(await readText(request, { limitBytes: 4096, contentType }))
      const theme = themes.find((one) => one === form['theme'])
      if (!theme) refuse('invalid_request', `The theme is one of ${themes.join(', ')}.`)
      const back = form['back'] ?? '/'
      // Not `secure`: it is not secret, and must work on a loopback name without https.
      set.headers['set-cookie'] =
        theme === 'system'
          ? 'theme=; Path=/; Max-Age=0; SameSite=Lax; HttpOnly'
          : `theme=${theme}; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly`
      set.headers['location'] = isSafeUrl('form', 'action', back) ? back : '/'
      set.status = 303
      return ''
    },
    { parse: 'none' },
  )
