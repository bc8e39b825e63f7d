/** How the line begins, which changes of it, and why no test can, or need, notice them. */
export type Row = [line: string, changes: RegExp, why: string]

export const any = /./
export const nothing = 'Speed only: a query for nothing finds nothing.'
export const faster = 'Speed only: without it the same is found a longer way.'
export const bug =
  'Our own bug, which no caller can bring about; it is there for the type and the log.'
const throws = 'It throws all the same, in the next step and with other words.'
const again = 'What is written too much is written again before it is read.'
const hint = 'An alignment is a hint, which changes no result.'

/** Of the verifier, which is also what a page and a stranger run. */
export const ofVerify: Record<string, Row[]> = {
  'src/verify/address.ts': [
    ['const nibble = ', /one more/, 'There is always a byte: the other value is for the type.'],
    ['for (let i = 0; i < 40; i++)', /< to <=|one more/, 'There is no 41st digit to add.'],
  ],
  'src/verify/check-log.ts': [
    ['const [first, second] = ', /<= to </, 'Of two of one size either is the first.'],
  ],
  'src/verify/fast/keccak-code.ts': [
    ['for (let x = 0; x < 5; x++)', /< to <=|one more/, again],
    ['for (let y = 0; y < 5; y++)', /< to <=|one more/, again],
    ['const added = ', /one more/, 'There are five columns: no sixth is asked for.'],
    ['code.push(op.get, lane(0, i), op.get, at', /one more/, hint],
    ['code.push(op.get, out, op.get, lane(0, i)', /one more/, hint],

    ['code.push(...chi(x, y)', /[+] to -/, 'Of two halves the one before is the next.'],
    ['return Array.from({ length: 24 }', any, 'A 25th round writes where nothing reads.'],
    ['const last = low & 64', /one more/, 'A byte longer, of the same value.'],

    ['code.push(op.const64, ...signed(BigInt(offsets', /one more/, 'There are always 25 of them.'],
  ],
  'src/verify/fast/keccak-wasm.ts': [
    ['bytes[end - 1] = ', /one more/, 'There is always a byte: the other value is for the type.'],
    ['export const useWasmKeccak = ', any, faster],
    ['if (!(memory instanceof WebAssembly.Memory)', any, bug],
  ],
  'src/verify/keccak.ts': [
    ['if (message.length > longest)', any, 'Both ways hash alike.'],
    ['const longest = ', any, 'Longer messages are hashed by the library, with one result.'],
    ['memory = undefined', any, 'Both memories hash alike.'],
  ],
  'src/verify/merkle.ts': [
    [
      'if (sn === 0n) return false',
      /false/,
      'A path that goes on past the root never hashes to it.',
    ],
    ['if (!start) return false', /false/, bug],
    ['if (path.length === 0 || !', any, 'A value other than a hash never leads to the root.'],
  ],
  'src/verify/policy.ts': [['...(issuers && {', /&& to/, 'No issuer is named either way.']],
  'src/verify/quote.ts': [
    ['if (start <= read && start > from)', />/, 'Of two that are equal either is the one.'],
    ['for (const [meter, price] of step)', /> to >=/, 'Of two that are equal either is the one.'],
    ['let from = -1n', any, 'Rates without a start of 0 have none: each begins at 0 or above.'],
    ['return own ?? -1n', any, 'No price is below 0, whichever number says so.'],
    ['let dearest = -1n', any, 'No price is below 0, whichever number says so.'],
  ],
  'src/verify/read-tiles.ts': [
    ['const leaf = leafHash((bytes[0] ?? 0)', /one more/, 'There is always a kind.'],
    ['if (height % 8 !== 0)', /false/, 'No tile has the hashes of a height between two levels.'],
    ['const grown = ', /<=/, 'A whole tile that is missing is read twice.'],
    ['one.catch(', any, 'The turn of the promise comes in the same run of a test.'],
  ],
  'src/verify/signed-note.ts': [
    [
      'if (end === -1 || !note.endsWith',
      /&&/,
      'Lines that do not end in a newline are refused by their reader.',
    ],
  ],
  'src/verify/tlog-proof.ts': [
    ['if (end === -1)', any, 'A note has an empty line: without one it is refused later.'],
  ],
  'src/verify/shown-checks.ts': [
    [
      'if (!own.every(isPass) ||',
      /&&|every to some/,
      'All three are one: a hidden charge is skipped, and has no total.',
    ],
    ['if (anchor && final', /&& to/, 'There are always both; it is there for the type.'],
  ],
  'src/verify/typed-data.ts': [
    ['if (made?.by !== by)', any, 'Both memories hash alike; a new one has the same bytes.'],
    ['if (free > textsAt)', />= to|> to >=/, 'Whether the last byte can be used is not promised.'],
    ['if (text.length * 3 > keccakMemoryBytes', any, 'Both ways give one text one hash.'],
    ['const mostTexts', any, 'How many hashes are remembered is not promised.'],
    ['const scratchAt', any, 'Between two parts of a memory some room is left over.'],

    ['if (!Array.isArray(value)) throw', /false/, throws],
    ["if (typeof value !== 'string') throw", /false/, throws],
    ['if (known) return known', /false/, faster],
    ['if (value.length > 128)', /> to >=|one more/, 'Which hashes are remembered is not promised.'],
    ['bytes.fill(0, list', /one more/, 'What is cleared too much is written next.'],
    ["if (typeof value !== 'object' || value instanceof Uint8Array", /false|&&/, throws],
    ['if (!members) throw', /false/, bug],
  ],
  'src/verify/typed-values.ts': [
    ["if (typeof value === 'string') return BigInt", /true/, throws],
    ['if (rest < 0n', /< to <=|one more/, 'Nought is small, and was written before.'],
    ["if (typeof value === 'bigint') {", /false/, faster],
    ['return value >= 0n && value <= largestSafe', />= to >|<= to <|one more/, faster],
    ["if (typeof value === 'string') return value.length <= 15", /false|<= to </, faster],
    ["if (typeof value !== 'number') return undefined", /false/, throws],
    ["throw new TypeError('not an integer')", any, throws],
  ],
}
