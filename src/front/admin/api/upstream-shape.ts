/** The operator's view of an upstream. */
import * as t from '../../../web/http/shape.ts'

export const upstreamShape = t.answer('Upstream', 'An upstream: counts since the server started.', {
  id: t.text('Its name.', 'builtin'),
  asked: t.count('Requests.', 12),
  failed: t.count('Of these, failures.', 0),
  share_bps: t.count('Its part of the requests to all upstreams, in 0.01 %.', 4000),
  first_tokens: t.list(
    t.object('A model that streamed.', {
      model: t.text('The model by its name there.', 'gpt-5.5'),
      ms: t.count(
        'The time to a first token in ms: a mean in which newer answers count more.',
        412,
      ),
    }),
    'How fast its models begin. A failure is not a time.',
  ),
  reasons: t.map(t.count('How many.', 1), 'Failures by their reason.', { timeout: 1 }),
  places: t.orNull(
    t.object('null where they are not limited.', {
      taken: t.count('Requests in flight.', 1),
      waiting: t.count('Requests that wait.', 0),
      most: t.count('Places there are.', 64),
    }),
  ),
  'breaker?': t.oneOf('Whether it is asked.', ['closed', 'open', 'half_open']),
  'keys?': t.list(
    t.object('A key.', {
      name: t.text('The variable or file that holds it.', 'OPENAI_KEY_A'),
      weight: t.count('Its share of the requests.', 1),
      status: t.oneOf('Whether the upstream takes it.', ['ok', 'limited', 'denied']),
    }),
    'Its keys, where it has several.',
  ),
})
