import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { privateKeyToAccount } from 'viem/accounts'
import { fromHex, toHex } from '../../../src/kernel/hex.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { writeKeyFile } from '../../../src/proof/signer/key-file.ts'
import { nativeCurve, portableCurve } from '../../../src/proof/signer/secp256k1.ts'
import { openSigner, signerFromHex } from '../../../src/proof/signer/signer.ts'
import { recoverSigner } from '../../../src/verify/signature.ts'
import { promise } from '../../support/promise.ts'
import { testSigner } from '../../verify/samples.ts'

const random = systemRandom()
const native = nativeCurve()
const hex = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const digestOf = (text: string) => new Uint8Array(createHash('sha256').update(text).digest())

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signer-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A key file with this text and mode. */
function keyFile(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

describe('a signature', () => {
  promise`H6 H: A receipt is signed after the ledger's commit, and again gives the same bytes.`
  test('is the known answer of RFC 6979 (key 1, SHA-256 of "Satoshi Nakamoto")', () => {
    const key = fromHex(`0x${'00'.repeat(31)}01`)
    const expected =
      '0x934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8' +
      '2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5'
    const digest = digestOf('Satoshi Nakamoto')
    expect(toHex(portableCurve.sign(digest, key)).slice(0, 130)).toBe(expected)
    if (native) expect(toHex(native.sign(digest, key)).slice(0, 130)).toBe(expected)
  })

  test.skipIf(!native)('has the same bytes from the addon and from JavaScript', () => {
    for (let i = 0; i < 200; i++) {
      const key = digestOf(`key ${i}`)
      const digest = digestOf(`digest ${i}`)
      expect(native && toHex(native.sign(digest, key))).toBe(toHex(portableCurve.sign(digest, key)))
    }
  })

  test('is the one viem makes, and recovers to the signer', async () => {
    const account = privateKeyToAccount(`0x${hex}`)
    for (let i = 0; i < 5; i++) {
      const digest = digestOf(`message ${i}`)
      const signature = toHex(testSigner.sign(digest))
      expect(signature).toBe(await account.sign({ hash: toHex(digest) }))
      expect(recoverSigner(digest, signature)).toEqual({ ok: true, address: account.address })
    }
    expect(testSigner).toMatchObject({ address: account.address, publicKey: account.publicKey })
  })

  test('is over 32 bytes and nothing else', () => {
    expect(() => testSigner.sign(new Uint8Array(31))).toThrow('32 bytes')
  })
})

test.skipIf(process.platform !== 'linux' || process.arch !== 'x64')(
  'the addon is there on Linux x64',
  () => expect(native).toBeDefined(),
)

promise`H1 C: The signer's key is in its file or the environment and is printed nowhere.`
describe('the key cannot be printed', () => {
  test('The key is printed in no usual way.', () => {
    const shown = [
      JSON.stringify(testSigner),
      inspect(testSigner, { depth: 10, showHidden: true }),
      Bun.inspect(testSigner),
      String(testSigner),
      String(testSigner.sign),
      JSON.stringify(Object.getOwnPropertyDescriptors(testSigner)),
    ].join('\n')
    expect(shown).toContain(testSigner.address)
    expect(shown.toLowerCase()).not.toContain(hex.slice(0, 16))
    expect(Object.keys(testSigner)).toEqual(['address', 'publicKey', 'sign', 'derive'])
  })

  promise`K18`
  test('nor by an error about it', () => {
    for (const bad of [`${hex}0`, hex.slice(1), `${hex.slice(1)}g`]) {
      try {
        signerFromHex(bad)
        throw new Error('accepted')
      } catch (error) {
        expect(String(error)).toBe('Error: the signer key is not 64 hex digits')
      }
    }
  })
})

describe('a key file', () => {
  test.each([
    ['plain', hex],
    ['with 0x and a newline', `0x${hex}\n`],
    ['in upper case', hex.toUpperCase()],
  ])('A key file that is %s is read.', (name, text) => {
    expect(openSigner({ keyFile: keyFile(name, text), random }).address).toBe(testSigner.address)
  })

  test('is made when there is none: 0600, and the same signer the next time', () => {
    const path = join(folder, 'fresh.key')
    const made = openSigner({ keyFile: path, random })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
    expect(openSigner({ keyFile: path, random }).address).toBe(made.address)
    expect(made.address).not.toBe(testSigner.address)
  })

  test('is there whole: what a start that was cut off left beside it is not a key', () => {
    const path = join(folder, 'cut.key')
    const cut = keyFile('cut.key.new-0123456789abcdef', '')
    const made = openSigner({ keyFile: path, random })
    expect(openSigner({ keyFile: path, random }).address).toBe(made.address)
    expect(statSync(path).nlink).toBe(1)
    rmSync(cut)
    expect(readdirSync(folder).filter((name) => name.startsWith('cut'))).toEqual(['cut.key'])
  })

  test.skipIf(!Bun.which('prlimit'))('of which only a part could be written is none', async () => {
    const path = join(folder, 'part.key')
    const code = `import { writeKeyFile } from '${import.meta.dir}/../../../src/proof/signer/key-file.ts'
      writeKeyFile('${path}', '${hex}')`
    const command = ['prlimit', '--fsize=10', process.execPath, '-e', code]
    const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' })
    expect(await new Response(child.stderr).text()).toContain('EFBIG')
    expect(await child.exited).not.toBe(0)
    expect(readdirSync(folder).filter((name) => name.startsWith('part'))).toEqual([])
  })

  test('is written over no other, which stays as it was, and nothing is left', () => {
    const path = keyFile('taken.key', hex)
    expect(() => writeKeyFile(path, 'ab'.repeat(32))).toThrow('EEXIST')
    expect(readFileSync(path, 'utf8')).toBe(hex)
    expect(readdirSync(folder).filter((name) => name.startsWith('taken'))).toEqual(['taken.key'])
  })

  promise`H2 H: A key file that others can read stops the start.`
  test.each([0o644, 0o640, 0o604, 0o666, 0o700, 0o400])('of mode %o stops the start', (mode) => {
    const path = keyFile(`mode-${mode}`, hex, mode)
    const found = `${path} has mode ${mode.toString(8)}; run: chmod 600 ${path}`
    expect(() => openSigner({ keyFile: path, random })).toThrow(`the signer key file ${found}`)
  })

  test.each([
    ['empty', '', 'is not 64 hex digits'],
    ['zero', '00'.repeat(32), 'is out of range'],
    [
      'order',
      'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141',
      'is out of range',
    ],
  ])(
    'A key file without a key (%s) stops the start, and the error names the file.',
    (name, text, problem) => {
      const path = keyFile(`bad-${name}`, text)
      const open = () => openSigner({ keyFile: path, random })
      expect(open).toThrow(`the signer key in ${path} ${problem}`)
    },
  )
})
