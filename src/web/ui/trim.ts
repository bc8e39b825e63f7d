/** Takes from a page of a member what the role may not do: forms, links and whole panels. */
import { type Actor, isRight, may } from '../../kernel/acting.ts'

/** Whether a role may call the route of a path, by the rights that the routes themselves name. */
export type Allows = (acting: Actor, method: 'GET' | 'POST', path: string) => boolean

/**
 * The HTML without forms and links whose routes would answer 403, and without what `data-needs`
 * a right that the role lacks. Only for roles other than owner; the guard of the route decides.
 */
export function trimmed(html: string, acting: Actor, allows: Allows): string {
  if (acting.role === 'owner') return html
  return new HTMLRewriter()
    .on('[data-needs]', {
      element(element) {
        const right = element.getAttribute('data-needs') ?? ''
        if (isRight(right) && !may(acting, right)) element.remove()
      },
    })
    .on('[data-acts]', {
      element(element) {
        const path = element.getAttribute('data-acts') ?? ''
        if (!allows(acting, 'POST', path)) element.remove()
      },
    })
    .on('form[method="post"]', {
      element(element) {
        const action = element.getAttribute('action') ?? ''
        if (!allows(acting, 'POST', action)) element.remove()
      },
    })
    .on('a[href^="/dashboard"], a[href^="/api/portal"]', {
      element(element) {
        const href = element.getAttribute('href') ?? ''
        if (allows(acting, 'GET', href)) return
        const isButton = (element.getAttribute('class') ?? '').split(' ').includes('btn')
        if (isButton) element.remove()
        else element.removeAndKeepContent()
      },
    })
    .transform(html)
}
