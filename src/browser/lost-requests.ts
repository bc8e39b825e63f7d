/** Says that an action of htmx got no answer, and offers to repeat it. */
import { showToast } from './toasts.ts'

type HtmxRequest = {
  sourceElement: Element
  sourceEvent?: Event
  request: { method: string; form?: HTMLFormElement; submitter?: HTMLElement }
  response?: { status: number; headers: Headers }
}

const sentIn = (event: Event): HtmxRequest | undefined =>
  (event as CustomEvent<{ ctx?: HtmxRequest }>).detail.ctx

export function tellLostRequests(): void {
  document.addEventListener('htmx:error', (event) => {
    const sent = sentIn(event)
    if (sent) tell(sent)
  })
  document.addEventListener('htmx:before:response', (event) => {
    const sent = sentIn(event)
    if (!sent?.response || !isOfProxy(sent.response)) return
    event.preventDefault()
    tell(sent)
  })
}

/** A gateway answers for a server that restarts: its page is never put into ours. */
const isOfProxy = ({ status, headers }: NonNullable<HtmxRequest['response']>): boolean =>
  status >= 502 && status <= 504 && !headers.has('x-request-id')

function tell(sent: HtmxRequest): void {
  // The page itself asks again later where no press began it.
  if (!sent.sourceEvent?.isTrusted) return
  const words = mayBeDone(sent)
    ? 'No answer came. It may have been done.'
    : 'No connection. Nothing was changed.'
  showToast(words, { label: 'Retry', press: () => repeat(sent) })
}

/** A browser does not tell a refused connection from one that broke after the request was sent. */
const mayBeDone = ({ request }: HtmxRequest): boolean =>
  request.method !== 'GET' && navigator.onLine

function repeat({ sourceElement, request: { submitter } }: HtmxRequest): void {
  if (sourceElement instanceof HTMLFormElement) {
    const isThere = submitter?.isConnected === true && sourceElement.contains(submitter)
    sourceElement.requestSubmit(isThere ? submitter : null)
  } else if (sourceElement instanceof HTMLElement) sourceElement.click()
}
