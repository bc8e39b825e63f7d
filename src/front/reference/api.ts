/** GET /openapi.json, GET /openapi/:file and GET /llms.txt. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { answerText } from './answer-text.ts'
import { areas } from './areas.ts'
import { openApiOf, openApiOfArea } from './document.ts'
import { llmsOf } from './llms.ts'

/**
 * `/openapi.json`, the whole API for programs; `/openapi/keys.json`, one area of it, for those who
 * cannot read as much at once; and `/llms.txt`, the start of it for agents.
 */
export const docsApi = ({ settings, version }: Pick<Deps, 'settings' | 'version'>) => {
  const documents = once((baseUrl) => {
    const whole = openApiOf({ baseUrl, version: version.version })
    const parts = areas.map(
      (area) => [area.id, JSON.stringify(openApiOfArea(whole, area))] as const,
    )
    return { whole: JSON.stringify(whole), parts: new Map(parts) }
  })
  const short = once((baseUrl) => llmsOf({ baseUrl }))
  return new Elysia({ name: 'docs-api' })
    .get(
      '/openapi.json',
      ({ request, set }) =>
        answerText({ request, set }, documents(settings.baseUrl).whole, jsonType),
      openToAnyOrigin,
    )
    .get(
      '/openapi/:file',
      ({ params, request, set }) => {
        const { parts } = documents(settings.baseUrl)
        const id = params.file.endsWith('.json') ? params.file.slice(0, -5) : ''
        const text = parts.get(id) ?? refuse('not_found', noSuchArea)
        return answerText({ request, set }, text, jsonType)
      },
      openToAnyOrigin,
    )
    .get(
      '/llms.txt',
      ({ request, set }) =>
        answerText({ request, set }, short(settings.baseUrl), 'text/plain; charset=utf-8'),
      openToAnyOrigin,
    )
}

const jsonType = 'application/json; charset=utf-8'

const noSuchArea =
  `There is no such area. Ask for /openapi/<area>.json with one of ` +
  `${areas.map(({ id }) => id).join(', ')}.`

/** What follows from the base URL: made when first asked for, and kept. */
function once<T>(make: (baseUrl: string) => T): (baseUrl: string) => T {
  let made: { baseUrl: string; value: T } | undefined
  return (baseUrl) => {
    if (made?.baseUrl !== baseUrl) made = { baseUrl, value: make(baseUrl) }
    return made.value
  }
}
