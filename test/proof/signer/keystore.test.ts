import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { encryptKeystoreJsonSync } from 'ethers'
import { takeSignerKey } from '../../../src/cli/context.ts'
import { toHex } from '../../../src/kernel/hex.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { openKeystore } from '../../../src/proof/signer/keystore.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { openSource } from '../../../src/proof/signer/source.ts'
import { testPrivateKey } from '../../support/world.ts'
import { keyFolder } from './service.ts'

/** The test vectors of the Web3 Secret Storage definition, version 3. */
const password = 'testpassword'
const secret = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const pbkdf2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
const scrypt = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      p: 8,
      r: 1,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}

const { folder, drop } = keyFolder()
afterAll(drop)

const random = systemRandom()
const put = (name: string, text: string, mode = 0o600): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}
const messageOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return inspect(error)
  }
  throw new Error('it was accepted')
}

describe('a keystore', () => {
  test.each([
    ['PBKDF2', pbkdf2],
    ['scrypt', scrypt],
  ])(
    'of the definition opens, by %s',
    (_, keystore) => {
      expect(toHex(openKeystore(JSON.stringify(keystore), password))).toBe(`0x${secret}`)
    },
    60_000,
  )

  test('The server opens a keystore that ethers made.', () => {
    const key = { address: signerFromHex(secret).address, privateKey: `0x${secret}` }
    const made = encryptKeystoreJsonSync(key, password, { scrypt: { N: 1024, r: 8, p: 1 } })
    expect(toHex(openKeystore(made, password))).toBe(`0x${secret}`)
  })

  test('A keystore opens with a password file, whose last newline does not count.', () => {
    const file = put('keystore.json', JSON.stringify(pbkdf2), 0o644)
    const passwordFile = put('password', `${password}\n`)
    const signer = openSource({ kind: 'keystore', file, passwordFile }, undefined, random)
    expect(signer.address).toBe(signerFromHex(secret).address)
    expect(inspect(signer, { depth: 9, showHidden: true })).not.toContain(secret.slice(0, 16))
  })

  const { crypto } = pbkdf2
  test.each([
    ['another password', JSON.stringify(pbkdf2), 'the password does not open the keystore', 'x'],
    ['no JSON', '{', 'the keystore is not JSON', password],
    ['another version', JSON.stringify({ ...pbkdf2, version: 1 }), 'version is not 3', password],
    [
      'an unknown cipher',
      JSON.stringify({ ...pbkdf2, crypto: { ...crypto, cipher: 'aes-128-cbc' } }),
      'cipher is not supported',
      password,
    ],
    [
      'an unknown kdf',
      JSON.stringify({ ...pbkdf2, crypto: { ...crypto, kdf: 'md5' } }),
      'kdf',
      password,
    ],
    [
      'a changed text',
      JSON.stringify({ ...pbkdf2, crypto: { ...crypto, ciphertext: '00' } }),
      'does not open',
      password,
    ],
    [
      'more memory than there is',
      JSON.stringify({
        ...scrypt,
        crypto: { ...scrypt.crypto, kdfparams: { ...scrypt.crypto.kdfparams, r: 64 } },
      }),
      'more than 1 GiB',
      password,
    ],
  ])(
    'A keystore with %s is refused, and the error quotes no part of it.',
    (_, text, problem, word) => {
      const file = put('bad.json', text)
      const passwordFile = put('bad-password', word)
      const said = messageOf(() =>
        openSource({ kind: 'keystore', file, passwordFile }, undefined, random),
      )
      expect(said).toContain(`the keystore ${file}`)
      expect(said).toContain(problem)
      for (const hidden of [password, secret, crypto.ciphertext]) expect(said).not.toContain(hidden)
    },
  )

  test('needs a password file that only its owner reads', () => {
    const file = put('keystore.json', JSON.stringify(pbkdf2))
    const passwordFile = put('open-password', password, 0o644)
    const open = () => openSource({ kind: 'keystore', file, passwordFile }, undefined, random)
    expect(open).toThrow(`the password file ${passwordFile} has mode 644; run: chmod 600`)
    const none = join(folder, 'nowhere')
    const gone = { kind: 'keystore', file, passwordFile: none } as const
    expect(() => openSource(gone, undefined, random)).toThrow(`no password file at ${none}`)
  })
})

describe('a source of the key', () => {
  test('in the environment is the key itself, and an error does not repeat it', () => {
    const good = openSource({ kind: 'env', hex: `0x${testPrivateKey}` }, undefined, random)
    expect(good.address).toBe(signerFromHex(testPrivateKey).address)
    const bad = `${testPrivateKey.slice(1)}g`
    const said = messageOf(() => openSource({ kind: 'env', hex: bad }, undefined, random))
    expect(said).toContain('COUNTERFOIL_SIGNER_KEY is not 64 hex digits')
    expect(said).not.toContain(bad.slice(0, 16))
  })

  test('in the environment is taken out of it', () => {
    process.env['COUNTERFOIL_SIGNER_KEY'] = testPrivateKey
    expect([takeSignerKey(), takeSignerKey()]).toEqual([testPrivateKey, undefined])
    expect('COUNTERFOIL_SIGNER_KEY' in process.env).toBe(false)
  })

  test('that the configuration names is never made; that of the data folder only once', () => {
    const data = join(folder, 'data')
    mkdirSync(data)
    const file = join(data, 'signer.key')
    expect(() => openSource({ kind: 'file', file }, undefined, random)).toThrow(
      `there is no signer.key at ${file}; restore it`,
    )
    const { address } = signerFromHex(testPrivateKey)
    // A database that knows its signer has lost the key: another one would help no one.
    expect(() => openSource({ kind: 'data', file }, address, random)).toThrow(
      `there is no signer.key at ${file}, which held the key of ${address}; restore it`,
    )
    expect(existsSync(file)).toBe(false)
    const made = openSource({ kind: 'data', file }, undefined, random)
    expect(openSource({ kind: 'data', file }, made.address, random).address).toBe(made.address)
  })
})
