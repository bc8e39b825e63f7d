/** The answers of quotes. */
import * as t from '../../web/http/shape.ts'

const signedQuote = t.object(
  'What is signed, as EIP-712 typed data (`other_types` of `GET /v1/signer`). Integers are ' +
    'decimal text.',
  {
    id: t.id('quote', 'Id of the quote.'),
    issuer: t.text('Origin of who promises.', 'https://gw.example'),
    account: t.text(
      'Whose runs; 20 zero bytes for any account.',
      '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
    ),
    model: t.text('The model.', 'counterfoil/echo-1'),
    rates: t.list(
      t.object('', {
        service_tier: t.text('Empty for the ordinary one.', ''),
        from_input_tokens: t.decimal('Of runs that read so much or more.', '0'),
        meter: t.text('What is counted.', 'input'),
        price: t.decimal('Pico-USD a unit.', '150000'),
      }),
      'What each unit costs.',
    ),
    price_list: t.text('Where the rates are from.', 'default@1'),
    discount_bps: t.decimal('The least discount. Hundredths of a percent.', '0'),
    max_input_tokens: t.decimal('The most that a run may read.', '2000'),
    max_output_tokens: t.decimal('The most that it may write.', '500'),
    max_nusd: t.decimal('The most that a run can cost. Nano-USD.', '600000'),
    uses: t.decimal('How many runs.', '1'),
    issued_at: t.decimal('Milliseconds.', '1785585600000'),
    expires_at: t.decimal('Milliseconds.', '1785586200000'),
    log_size: t.decimal('Leaves of the log when it was signed.', '12'),
    nonce: t.hash('Random.'),
  },
)

export const quoteShape = t.answer(
  'Quote',
  'A promise of prices. It is a file as well: keep it, to check the receipt with.',
  {
    id: t.id('quote', 'What a run sends as X-Counterfoil-Quote.'),
    object: t.only('quote'),
    type: t.only('counterfoil.quote'),
    version: t.only('1'),
    model: t.text('The model.', 'counterfoil/echo-1'),
    max_nusd: t.nusd('The most that a run can cost.', 600_000),
    expires_at: t.time('Until when a run may begin with it.'),
    uses: t.integer('How many runs.', 1),
    uses_left: t.integer('How many more may begin now; a run without a charge gives its back.', 1),
    quote: signedQuote,
    digest: t.hash('EIP-712 digest: what is signed, and what a receipt names.'),
    signature: t.text('65 bytes as hex, secp256k1, low s.', `0x${'5c'.repeat(65)}`),
  },
)

export type QuoteAnswer = t.Static<typeof quoteShape>
