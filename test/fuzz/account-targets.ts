import { isToken } from '../../src/access/accounts/session.ts'
import { isSignatureOf } from '../../src/access/accounts/sign-in.ts'
import { checkSite, checkTimes, parseSiwe } from '../../src/access/accounts/siwe.ts'
import { readTime } from '../../src/access/keys/key-request.ts'
import { isSecret, makeSecret } from '../../src/access/keys/secret.ts'
import { commands, readLine } from '../../src/front/terminal/language.ts'
import { isId } from '../../src/kernel/ids.ts'
import { maxNusd, parseUsd, toUsd } from '../../src/kernel/money.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import { assertHandle, isHandle, skeletonOf } from '../../src/proof/passports/handle.ts'
import { readTag } from '../../src/runs/run.ts'
import { tagText } from '../../src/runs/shown-run.ts'
import { isAddress, toChecksumAddress } from '../../src/verify/address.ts'
import { siweText, wallet } from '../access/accounts/wallet.ts'
import { must, type Target } from './run.ts'

const base = 'https://gw.example'
const now = Date.UTC(2026, 10, 21)
const nonce = 'a1b2c3d4e5f6a7b8c9d0'
const wellSigned = `0x${'5c'.repeat(64)}1b`

/** What people and programs of theirs send: sign-ins, keys, passports, runs, commands. */
export const accountTargets: readonly Target[] = [
  {
    name: 'SIWE message',
    good: [
      siweText(nonce, base, {}, now),
      siweText(nonce, base, { more: `Resources:\n- ${base}/a\n- ipfs://b` }, now),
      siweText(
        nonce,
        base,
        { statement: '\n', more: 'Expiration Time: 2026-11-21T00:05:00.000Z' },
        now,
      ),
    ],
    async read(text) {
      const parsed = await parseSiwe(text)
      checkSite(parsed, base)
      checkTimes(parsed, now)
      must(text.includes('Chain ID: 4663') && text.length <= 2048, 'what it was shown')
    },
  },
  {
    name: 'signature of a sign-in',
    good: [wellSigned, `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`],
    async read(signature) {
      const asked = { address: wallet.address, message: 'x', signature }
      must(!(await isSignatureOf(asked)), 'it was not signed')
    },
  },
  {
    name: 'secret, session, id',
    good: [makeSecret(systemRandom()), 'A'.repeat(43), 'key_01k1j8dq00v5x3c7n9m2p4r6t8'],
    read(text) {
      must(!isSecret(text) || /^sk-service-\w{49}$/.test(text), 'one form of a secret')
      must(!isToken(text) || text.length === 43, 'one form of a token')
      must(!isId('key', text) || text.length === 30, 'one form of an id')
    },
  },
  {
    name: 'amount',
    good: ['5.00', '0.000000001', '9000000', '12.5'],
    read(text) {
      const amount = parseUsd(text)
      if (amount === undefined) return
      must(amount >= 0n && amount <= maxNusd, 'within the bounds')
      must(parseUsd(toUsd(amount)) === amount, 'the same again')
      must(/^[0-9.]+$/.test(text), 'digits')
    },
  },
  {
    name: 'address',
    good: [wallet.address, wallet.address.toLowerCase()],
    read(text) {
      if (!isAddress(text)) return
      must(text === text.toLowerCase() || text === toChecksumAddress(text), 'its checksum')
    },
  },
  {
    name: 'handle',
    good: ['scout', 'my-agent-7'],
    read(text) {
      assertHandle(text)
      must(isHandle(text) && /^[a-z0-9-]{3,30}$/.test(text), 'one form')
      must(skeletonOf(text).length > 0, 'a skeleton')
    },
  },
  {
    name: 'time',
    good: ['2027-01-31T00:00:00Z', '2027-01-31T00:00:00.5+02:00'],
    read: (text) => {
      must(Number.isSafeInteger(Math.floor(readTime(text))), 'a time')
    },
  },
  {
    name: 'line of the terminal',
    good: ['help', 'price counterfoil/echo-1', '  ask  what is a receipt? ', 'verify rcpt_x'],
    read(text) {
      const { name, argument } = readLine(text, commands)
      must(
        commands.some((one) => one.name === name) && argument === argument.trimEnd(),
        'a command',
      )
    },
  },
  {
    name: 'tag of a filter',
    good: ['team:search', 'team'],
    read: (text) => must(tagText(readTag(text)) === text, 'the same again'),
  },
]
