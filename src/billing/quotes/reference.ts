/** Reference entries of quotes. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { quoteBody } from './api/quote-body.ts'
import { quoteShape } from './shapes.ts'

const wish = {
  model: 'counterfoil/echo-1',
  max_input_tokens: 2000,
  max_output_tokens: 500,
  valid_s: 600,
}

const { get, post } = r.entriesUnder('/v1/quotes', {
  path: { id: t.id('quote', 'Id of a quote.') },
})

export const quotesArea = r.area('quotes', 'programs', 'Quotes', {
  about:
    'A quote promises the prices of now for up to an hour, signed. A run that sends its id as ' +
    '`X-Counterfoil-Quote` is held and charged at the quoted rates, also if prices changed; its ' +
    'receipt names the digest of the quote: `quote:0x…`. It reserves no money. A run that ' +
    'ends without a charge gives its use back. Without a limit of its own, or with `fit`, a run ' +
    'gets the limit of the quote.',
  operations: [
    post('createQuote', '', 'Ask for a quote', {
      about:
        'Signs what such a run can cost at most. Keep the answer: with it, `POST ' +
        '/v1/receipts/verify` and `counterfoil verify --quote` check that the receipt kept it.',
      access: 'runs:write',
      isIdempotent: true,
      body: quoteBody,
      examples: [{ name: 'For ten minutes', body: wish }],
      answers: r.ok('The quote.', quoteShape),
      refuses: [
        ...(['invalid_request', 'model_not_allowed', 'model_not_found'] as const),
        ...(['conflict', 'unavailable', 'log_diverged'] as const),
      ],
    }),
    get('showQuote', '/:id', 'One quote', {
      about: 'Of the key, or of a key below it; until a month after its end.',
      access: 'runs:read',
      answers: r.ok('The quote.', quoteShape),
    }),
  ],
})
