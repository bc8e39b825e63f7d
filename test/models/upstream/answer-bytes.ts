import fc from 'fast-check'

const head = (...lines: string[]): string => [...lines, '', ''].join('\r\n')
const chunks = '5\r\nhello\r\n6;a=b;c="d"\r\n world\r\n0\r\n'

/** Answers that each reader takes. */
export const goodAnswers = [
  `${head('HTTP/1.1 200 OK', 'Content-Type: text/plain', 'Content-Length: 5')}hello`,
  `${head('HTTP/1.1 200 ', 'Content-Length:  5 ', 'Connection:\tkeep-alive\t, x')}hello`,
  `${head('HTTP/1.1 500 No\xe9', 'Content-Length: 0')}`,
  `${head('HTTP/1.0 200 OK', 'Connection: Keep-Alive', 'content-length: 5')}hello`,
  `${head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked')}${chunks}\r\n`,
  `${head('HTTP/1.1 200 OK', 'transfer-encoding: Chunked', 'X: y')}${chunks}A: b\r\nC:\r\n\r\n`,
  `${head('HTTP/1.1 100 Continue')}${head('HTTP/1.1 200 OK', 'Content-Length: 2')}{}`,
  `${head('HTTP/1.1 200 OK', 'Content-Encoding: identity', 'Content-Length: 2')}{}`,
] as const

/** Answers that readers disagree on, or that no reader should keep a connection after. */
export const doubtfulAnswers: [what: string, bytes: string][] = [
  ['a vertical tab after a transfer coding', coded('chunked\x0b')],
  ['a vertical tab before a transfer coding', coded('\x0bchunked')],
  ['a no-break space around a transfer coding', coded('\xa0chunked\xa0')],
  ['a form feed after a transfer coding', coded('chunked\x0c')],
  ['two equal Transfer-Encoding lines', coded('chunked\r\nTransfer-Encoding: chunked')],
  ['two transfer codings', coded('identity, chunked')],
  ['a transfer coding in HTTP/1.0', coded('chunked').replace('1.1', '1.0')],
  ['Transfer-Encoding and Content-Length', coded('chunked\r\nContent-Length: 22')],
  ['two equal Content-Length lines', sized('5\r\nContent-Length: 5')],
  ['a list as Content-Length', sized('5, 5')],
  ['a plus sign in Content-Length', sized('+5')],
  ['a vertical tab after Content-Length', sized('5\x0b')],
  ['a tab after Content-Length', sized('5\t')],
  ['a tab after a transfer coding', coded('chunked\t')],
  ['an empty Content-Length', sized('')],
  ['a name before a space', sized('5\r\nX : y')],
  ['a name that is not a token', sized('5\r\nX(y): z')],
  ['a folded line', sized('5\r\nX: y\r\n z')],
  ['a line without a colon', sized('5\r\nX')],
  ['a control character in a value', sized('5\r\nX: a\x01b')],
  ['a NUL in a value', sized('5\r\nX: a\0b')],
  ['a bare CR in a value', sized('5\r\nX: a\rContent-Length: 6')],
  ['a bare LF between lines', sized('5\nX: y')],
  ['white space before the first field', sized('5').replace('\r\n', '\r\n ')],
  ['an empty line before the status line', `\r\n${sized('5')}`],
  ['a status line without its second space', sized('5').replace(' OK', '')],
  ['a control character in the reason', sized('5').replace('OK', 'O\x01K')],
  ['a tab in the status line', sized('5').replace(' 200 ', '\t200 ')],
  ['another version', sized('5').replace('1.1', '1.2')],
  [
    'a length in an interim answer',
    `${sized('0').slice(0, -5)}`.replace('200', '103') + sized('5'),
  ],
  ['a tab after a chunk size', coded('chunked').replace('5\r', '5\t\r')],
  ['a space after a chunk size', coded('chunked').replace('5\r', '5 \r')],
  ['a space before a chunk extension', coded('chunked').replace('5\r', '5 ;a=b\r')],
  ['a chunk extension without a name', coded('chunked').replace('5\r', '5;\r')],
  ['a bare CR in a chunk extension', coded('chunked').replace('5\r', '5;a\rb\r')],
  ['a bare LF after a chunk size', coded('chunked').replace('5\r\n', '5\n')],
  ['a sign before a chunk size', coded('chunked').replace('5\r', '+5\r')],
  ['a chunk size in C', coded('chunked').replace('5\r', '0x5\r')],
  ['a chunk that is longer than its size', coded('chunked').replace('hello', 'hello!')],
  ['a bare LF after a chunk', coded('chunked').replace('hello\r\n', 'hello\n')],
  ['Content-Length among trailers', coded('chunked', 'Content-Length: 5\r\n')],
  ['Transfer-Encoding among trailers', coded('chunked', 'Transfer-Encoding: chunked\r\n')],
  ['a folded trailer', coded('chunked', 'X: y\r\n z\r\n')],
  ['a trailer without a colon', coded('chunked', 'X\r\n')],
  ['a bare LF after a trailer', coded('chunked', 'X: y\n')],
]

function sized(length: string): string {
  return `${head('HTTP/1.1 200 OK', `Content-Length: ${length}`)}hello`
}

function coded(coding: string, trailers = ''): string {
  return `${head('HTTP/1.1 200 OK', `Transfer-Encoding: ${coding}`)}5\r\nhello\r\n0\r\n${trailers}\r\n`
}

const pieces = [
  ...['\r\n', '\r', '\n', '\n\n', '\t', ' ', '\0', '\x01', '\x0b', '\x0c', '\x7f', '\x85', '\xa0'],
  ...['\xff', ':', ';', ',', '"', '\\', '=', '+', '-', '0', '5', 'a', 'ff', '0x', '00000005'],
  ...['chunked', 'identity', 'gzip', 'close', 'keep-alive', 'upgrade', 'HTTP/1.1 200 OK\r\n'],
  ...['Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', 'Connection: close\r\n'],
  ...['Transfer-Encoding: identity\r\n', 'Content-Length: 3\r\n', 'Trailer: X\r\n', 'X: y\r\n'],
  ...['Upgrade: x\r\n', 'Connection: upgrade\r\n', 'Content-Encoding: gzip\r\n', '0\r\n\r\n'],
]

type Edit = { at: number; remove: number; insert: string }
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 12 })),
  insert: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...pieces) },
    fc.string({ unit: 'binary-ascii', maxLength: 2 }),
    fc.constant(''),
  ),
})

/** An answer with some faults, and where it is parted into two reads (0 to 1). */
export type Spoilt = { bytes: Buffer; part: number }

export const spoiltAnswer: fc.Arbitrary<Spoilt> = fc
  .record({
    good: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...goodAnswers) },
      fc.constantFrom(...doubtfulAnswers.map(([, bytes]) => bytes)),
    ),
    edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ good, edits, part }) => {
    let text = good
    for (const { at, remove, insert } of edits) {
      const from = Math.floor(at * text.length)
      text = text.slice(0, from) + insert + text.slice(from + remove)
    }
    return { bytes: Buffer.from(text, 'latin1'), part }
  })
